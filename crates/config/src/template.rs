//! A file that says everything that can be written in it.

use serde_json::Value;

use crate::schema::{KeyDoc, TableDoc};

const HEAD: &str = "\
# Toolgate's configuration: every key, as a comment, with the value that holds if it is not written.
# To change one, remove the `#` in front of it. Environment variables and flags win over this file.
# `toolgate config check` says whether it is right, `toolgate config show` what is in force and why.
";

/// How wide the lines of a comment are.
const WIDTH: usize = 100;

/// The text of a file in which every key is there as a comment.
///
/// A line `#key = value` can be made to count by removing its `#`; headers count already, because a key
/// without its header would be another one.
#[must_use]
pub fn template(tables: &[TableDoc]) -> String {
    let mut text = HEAD.to_owned();
    for table in tables {
        if table.is_pattern() {
            text += &example(table);
            continue;
        }
        if !table.name.is_empty() {
            text += &format!("\n\n{}{}\n", comment(&table.description), table.header());
        }
        for key in &table.keys {
            text += &format!("\n{}#{} = {}\n", comment(&about(key)), key.name, value(key));
        }
    }
    text
}

/// A table that nobody has to write is shown as one that somebody might; all of it is comment.
fn example(table: &TableDoc) -> String {
    let keys = table.keys.iter().map(|key| format!("#   {} = {}\n", key.name, value(key)));
    format!("\n\n{}# {}\n{}", comment(&table.description), table.header(), keys.collect::<String>())
}

fn about(key: &KeyDoc) -> String {
    let article = if key.form.starts_with("list") { "a " } else { "" };
    let choices =
        if key.form.contains('`') { format!(" Takes {article}{}.", key.form) } else { String::new() };
    let unset = if key.default.is_none() { " Not set by default." } else { "" };
    format!("{}{choices}{unset}", key.description)
}

fn value(key: &KeyDoc) -> String {
    key.default.as_ref().or(key.example.as_ref()).and_then(literal).unwrap_or_else(|| "\"\"".to_owned())
}

/// A value as TOML.
#[must_use]
pub fn literal(value: &Value) -> Option<String> {
    toml::Value::try_from(value).ok().map(|value| value.to_string())
}

fn comment(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.len() + word.len() < WIDTH) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(format!("# {word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

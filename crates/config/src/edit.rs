//! Setting and removing one key in the text of a file, with every other byte kept.
//!
//! The parser only says where things stand; what changes is the text. Afterwards the text is read again, and
//! anything but the change that was asked for is refused.

mod expect;
mod place;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use toml_edit::{Document, Key, Value};

use crate::error::{ConfigError, Problem};
use crate::excerpt::Lines;
use place::{Missing, Spot};

pub use table::{add_table, literal, remove_table};

/// What a person who typed this may mean, as TOML, the likeliest first: a value of TOML, a string, a list.
#[must_use]
pub fn readings(typed: &str) -> Vec<String> {
    let literal = typed.trim().parse::<Value>().ok().map(|_| typed.trim().to_owned());
    let items = typed.split(',').map(str::trim).filter(|item| !item.is_empty());
    let list = Value::Array(items.collect()).to_string();
    literal.into_iter().chain([Value::from(typed).to_string(), list]).collect()
}

/// The text with a dotted key set to a value, which is written in TOML.
///
/// # Errors
/// The text, the key or the value is not TOML, or there is no place for the key.
pub fn set(text: &str, key: &str, value: &str) -> Result<String, ConfigError> {
    let (mark, text) = split_mark(text);
    let path = parse_key(key)?;
    let parsed: Value = value.parse().map_err(|_| problem(format!("the value for `{key}` is no TOML")))?;
    let document = parse(text)?;
    let edited = match place::find(document.as_table(), &path).map_err(|why| why.explain(key))? {
        Spot::Value { value: at, .. } => replace(text, at, value),
        Spot::Missing(Missing::InInline { after: Some(at), rest, .. }) => {
            replace(text, at..at, &format!(", {} = {value}", dotted(rest)))
        }
        Spot::Missing(Missing::InInline { table, rest, .. }) => {
            replace(text, table, &format!("{{ {} = {value} }}", dotted(rest)))
        }
        Spot::Missing(Missing::InDotted { after, rest }) => {
            insert_line(text, line_end(text, after), &format!("{} = {value}", dotted(rest)))
        }
        Spot::Missing(Missing::InTable { region, top, after, key }) => {
            let region = region.start..region.end.min(text.len());
            let line = format!("{} = {value}", dotted(std::slice::from_ref(key)));
            match (place::placeholder(text, region.clone(), key), after) {
                (Some(line), _) => replace(text, line.at, &replace(&line.code, line.value, value)),
                (None, Some(after)) => insert_line(text, line_end(text, after), &line),
                (None, None) if !top => insert_line(text, line_end(text, region.start), &line),
                (None, None) => at_top(text, region.end, &line),
            }
        }
        Spot::Missing(Missing::NewTable) => {
            let (table, key) = (dotted(&path[..path.len() - 1]), dotted(&path[path.len() - 1..]));
            let gap = if text.trim().is_empty() { "" } else { newline(text) };
            let line = format!("{gap}[{table}]{}{key} = {value}", newline(text));
            insert_line(text, text.len(), &line)
        }
    };
    let expected = expect::with(text, &path, &parsed);
    if expect::read(&edited) != expected {
        return Err(by_hand(key));
    }
    Ok(format!("{mark}{edited}"))
}

/// The text without a dotted key.
///
/// # Errors
/// The text or the key is not TOML, or the key does not stand there.
pub fn unset(text: &str, key: &str) -> Result<String, ConfigError> {
    let (mark, text) = split_mark(text);
    let path = parse_key(key)?;
    let document = parse(text)?;
    let edited = match place::find(document.as_table(), &path).map_err(|why| why.explain(key))? {
        Spot::Value { inline: Some((at, rest)), .. } => {
            let smaller = place::without(&text[at.clone()], rest).ok_or_else(|| by_hand(key))?;
            replace(text, at, &smaller)
        }
        Spot::Value { name, value, inline: None } => {
            replace(text, line_start(text, name.start)..line_end(text, value.end), "")
        }
        Spot::Missing(_) => {
            let hint = "run `toolgate config show` to see what is set, and where".to_owned();
            return Err(problem(format!("`{key}` is not set in this file")).hint(hint).into());
        }
    };
    if expect::read(&edited).map(expect::pruned) != expect::without(text, &path).map(expect::pruned) {
        return Err(by_hand(key));
    }
    Ok(format!("{mark}{edited}"))
}

fn parse_key(key: &str) -> Result<Vec<Key>, ConfigError> {
    let path = Key::parse(key).ok().filter(|path| !path.is_empty());
    path.ok_or_else(|| {
        problem(format!("`{key}` is no key")).hint("write it like `http.port`".to_owned()).into()
    })
}

fn parse(text: &str) -> Result<Document<&str>, ConfigError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = Lines::new(text).position(error.span().map_or(0, |span| span.start));
        problem(format!("line {line}, column {column} is no TOML: {}", error.message())).into()
    })
}

fn problem(message: String) -> Problem {
    Problem::new(None, message)
}

fn by_hand(key: &str) -> ConfigError {
    problem(format!("`{key}` stands where it cannot be changed safely"))
        .hint("open the file in an editor; `toolgate config check` then says whether it is right".to_owned())
        .into()
}

/// Puts a line above the first table, whose header begins at `header`.
fn at_top(text: &str, header: usize, line: &str) -> String {
    if header == text.len() {
        return insert_line(text, header, line);
    }
    // The comment that stands right above the first table belongs to it.
    insert_line(text, place::comment_above(text, header), &format!("{line}{}", newline(text)))
}

fn insert_line(text: &str, at: usize, line: &str) -> String {
    let newline = newline(text);
    let before = if at == 0 || text[..at].ends_with('\n') { "" } else { newline };
    replace(text, at..at, &format!("{before}{line}{newline}"))
}

fn replace(text: &str, at: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..at.start], &text[at.end..])
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// Where the next line begins.
fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |at| offset + at + 1)
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

fn dotted(path: &[Key]) -> String {
    let keys: Vec<String> =
        path.iter().map(|key| key.default_repr().as_raw().as_str().unwrap_or_default().to_owned()).collect();
    keys.join(".")
}

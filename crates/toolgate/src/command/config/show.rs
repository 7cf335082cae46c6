//! `toolgate config show`: every value in force, and where it comes from.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_config::{Document, Leaf, literal, nearest};
use toolgate_core::{Error, Kind};

use super::origin::{origin, problem};
use crate::cli::Cli;
use crate::settings::{Loaded, Sources};

/// What stands in place of a secret.
const HIDDEN: &str = "\"(hidden)\"";

/// The origins stand below each other, as far as the values let them.
const WIDEST: usize = 48;

/// Prints the values; as TOML, with the origins as comments.
pub(crate) fn run(cli: &Cli, key: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    let Loaded { settings, document } = Sources::of(cli)?.load()?;
    let all = document.in_force(settings.values());
    let leaves: Vec<&Leaf> =
        all.iter().filter(|leaf| key.is_none_or(|key| is_within(&leaf.key, key))).collect();
    if leaves.is_empty() {
        return Err(unknown(key.unwrap_or_default(), &all).into());
    }
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&in_json(&document, &leaves))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if key.is_none() {
        let files: Vec<String> = document
            .file()
            .into_iter()
            .chain(document.opencode_file())
            .map(|path| path.display().to_string())
            .collect();
        let read = if files.is_empty() {
            "there is no file".to_owned()
        } else {
            format!("read: {}", files.join(", "))
        };
        writeln!(out, "# {read}")?;
    }
    write!(out, "{}", in_toml(&leaves))?;
    let mut talk = std::io::stderr().lock();
    for warning in document.warnings() {
        writeln!(talk, "warning: {warning}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_toml(leaves: &[&Leaf]) -> String {
    let lines: Vec<(String, String)> =
        leaves.iter().map(|leaf| (line(leaf), leaf.origin.to_string())).collect();
    let widths = lines.iter().map(|(line, _)| line.chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or_default();
    lines.iter().map(|(line, origin)| format!("{line:width$}  # {origin}\n")).collect()
}

fn line(leaf: &Leaf) -> String {
    match literal(&leaf.value) {
        None => format!("#{} is not set", leaf.key),
        Some(_) if leaf.secret => format!("{} = {HIDDEN}", leaf.key),
        Some(value) => format!("{} = {value}", leaf.key),
    }
}

fn in_json(document: &Document, leaves: &[&Leaf]) -> Value {
    let item = |leaf: &&Leaf| {
        let hidden = leaf.secret && !leaf.value.is_null();
        let value = if hidden { &Value::Null } else { &leaf.value };
        json!({ "key": leaf.key, "value": value, "hidden": hidden, "origin": origin(&leaf.origin) })
    };
    json!({
        "file": document.file(),
        "opencode_file": document.opencode_file(),
        "items": leaves.iter().map(item).collect::<Vec<_>>(),
        "warnings": document.warnings().iter().map(problem).collect::<Vec<_>>(),
    })
}

/// Whether a key is the one that was asked for, or stands in that table.
fn is_within(key: &str, asked: &str) -> bool {
    key.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn unknown(asked: &str, all: &[Leaf]) -> Error {
    let tables = all.iter().filter_map(|leaf| Some(leaf.key.split_once('.')?.0));
    let meant = nearest(asked, all.iter().map(|leaf| leaf.key.as_str()).chain(tables));
    let hint = meant.map_or_else(
        || "run `toolgate config show` to see all of them".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    Error::new(Kind::InvalidInput, format!("unknown key `{asked}`")).hint(hint)
}

//! An entry of any client, read with patience: people copy entries from one client's file to another's.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::server::{Entry, Local, Remote, Server, Transport};

/// Reads an entry.
pub(crate) fn entry(name: &str, written: Value) -> Entry {
    let on = |key: &str| written.get(key).and_then(Value::as_bool);
    let enabled = on("enabled").unwrap_or(true) && !on("disabled").unwrap_or(false);
    Entry { name: name.to_owned(), server: server(&written), enabled, written }
}

fn server(entry: &Value) -> Option<Server> {
    let word = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(url) = ["url", "serverUrl", "httpUrl"].into_iter().find_map(word) {
        let transport = match word("type").as_deref() {
            Some("sse") => Transport::Sse,
            _ => Transport::Http,
        };
        let headers = table(entry, &["headers", "http_headers"]);
        return Some(Server::Remote(Remote { url, headers, transport }));
    }
    let command = entry.get("command")?;
    let mut line = command.as_str().map_or_else(|| words(command), |command| vec![command.to_owned()]);
    line.extend(entry.get("args").map(words).unwrap_or_default());
    if line.is_empty() {
        return None;
    }
    let command = line.remove(0);
    Some(Server::Local(Local { command, args: line, env: table(entry, &["env", "environment"]) }))
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(scalar).collect()
}

/// Numbers and truths are text to an environment and to a command line.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn table(entry: &Value, keys: &[&str]) -> BTreeMap<String, String> {
    let found = keys.iter().find_map(|key| entry.get(key)?.as_object());
    let pairs = found.into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), scalar(value)?))).collect()
}

//! Lines of a page's console.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::brief;

/// How much of a line is kept.
const MOST: usize = 2000;

/// How serious a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// A line of the console.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) text: String,
    /// Where it was said, if that is known.
    pub(crate) place: String,
}

/// The line that an event means.
pub(super) fn line(method: &str, params: &Value) -> Option<Line> {
    match method {
        "Runtime.consoleAPICalled" => {
            let args = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
            let text = args.iter().map(shown).collect::<Vec<_>>().join(" ");
            let level = level(params["type"].as_str().unwrap_or_default());
            Some(Line {
                level,
                text: brief(&text, MOST),
                place: place(&params["stackTrace"]["callFrames"][0]),
            })
        }
        "Runtime.exceptionThrown" => {
            let details = &params["exceptionDetails"];
            let described = details["exception"]["description"].as_str();
            let text = described.or(details["text"].as_str()).unwrap_or("an exception");
            let first = text.lines().next().unwrap_or_default();
            Some(Line {
                level: Level::Error,
                text: format!("uncaught {}", brief(first, MOST)),
                place: place(details),
            })
        }
        "Log.entryAdded" => {
            let entry = &params["entry"];
            let text = brief(entry["text"].as_str().unwrap_or_default(), MOST);
            let level = level(entry["level"].as_str().unwrap_or_default());
            Some(Line { level, text, place: place(entry) })
        }
        _ => None,
    }
}

fn level(word: &str) -> Level {
    match word {
        "error" | "assert" => Level::Error,
        "warning" => Level::Warning,
        "debug" | "verbose" => Level::Debug,
        _ => Level::Info,
    }
}

/// A value as the console shows it.
fn shown(value: &Value) -> String {
    match &value["value"] {
        Value::Null => {
            let described = value["description"].as_str().or(value["unserializableValue"].as_str());
            described.or(value["type"].as_str()).unwrap_or("null").to_owned()
        }
        Value::String(text) => text.clone(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => other.to_string(),
    }
}

fn place(at: &Value) -> String {
    let url = at["url"].as_str().unwrap_or_default();
    if url.is_empty() {
        return String::new();
    }
    let line = at["lineNumber"].as_u64().map(|line| format!(":{}", line + 1)).unwrap_or_default();
    format!("{}{line}", brief(url, 200))
}

//! `toolgate tools show`: what a tool does and what it takes.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::Value;
use toolgate_core::{Hub, ListKind, Principal};

use super::list::hints;

/// Prints one tool.
pub(crate) async fn run(hub: &Hub, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
    let Some(tool) = view.tool(name) else {
        return Err(view.unknown_tool(name).into());
    };
    let definition: Value = hub.filtered(tool.raw.clone())?.to()?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&definition)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{name}: {}", definition["title"].as_str().unwrap_or(name))?;
    writeln!(out, "{}\n({})", definition["description"].as_str().unwrap_or_default(), hints(tool))?;
    let schema = &definition["inputSchema"];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        writeln!(out, "\nIt takes no arguments.")?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(out, "\nArguments:")?;
    for (key, property) in properties {
        let need = if required.contains(&key.as_str()) { "required" } else { "optional" };
        writeln!(out, "  {key}  ({}, {need}{})", kind(property), default(property))?;
        if let Some(text) = property["description"].as_str() {
            writeln!(out, "      {text}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn kind(property: &Value) -> String {
    if let Some(choices) = property["enum"].as_array() {
        return choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    }
    let kinds = &property["type"];
    let kinds = kinds.as_array().map_or_else(|| vec![kinds], |kinds| kinds.iter().collect());
    let kinds: Vec<&str> =
        kinds.into_iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
    if kinds.is_empty() { "any".into() } else { kinds.join(" or ") }
}

fn default(property: &Value) -> String {
    property.get("default").map(|value| format!(", default {value}")).unwrap_or_default()
}

//! `toolgate tools list`: the tools, by source.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_core::{Hub, ListKind, Principal, SourceState, ToolItem, View};
use toolgate_host::terminal;
use toolgate_wire::Raw;

use crate::command::setup::tokens;
use crate::command::table::{fit, one_line};
use crate::gate::Gate;
use crate::packs::Lacking;

/// The least room for a description; in a terminal so narrow its lines wrap.
const LEAST: usize = 16;

/// Prints the tools.
pub(crate) async fn run(gate: &Gate, all: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let hub = &gate.hub;
    let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
    let mut out = std::io::stdout().lock();
    if as_json {
        let definition = |tool: &ToolItem| tool.raw.to::<Value>().unwrap_or_default();
        let mut items: Vec<Value> = view
            .tools_by_source()
            .map(|(source, tool)| json!({"source": source, "definition": definition(tool)}))
            .collect();
        for pack in gate.lacking().iter().filter(|_| all) {
            let (source, needs) = (pack.name.word(), &pack.needs);
            let item = |tool| json!({"source": source, "needs": needs, "definition": definition(tool)});
            items.extend(pack.tools.iter().map(|tool| item(tool)));
        }
        let cost = json!({"all": tokens(all_bytes(&view)), "listed": tokens(view.listed_bytes())});
        let list = json!({"items": items, "search": view.searches(), "tokens": cost});
        let list: Value = hub.filtered(Raw::of(&list))?.to()?;
        writeln!(out, "{}", serde_json::to_string_pretty(&list)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    write(&mut out, hub, &view, all)?;
    if all {
        lacking(&mut out, gate.lacking())?;
    }
    // A terminal that is gone needs no advice.
    drop(writeln!(std::io::stderr().lock(), "note: {}", cost(&view)));
    missing(hub)?;
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut std::io::StdoutLock<'_>, hub: &Hub, view: &View, all: bool) -> anyhow::Result<()> {
    let columns = terminal::columns(out);
    let width = view.tools().map(|tool| tool.name.as_str().len()).max().unwrap_or_default();
    let mut last = "";
    for (source, tool) in view.tools_by_source() {
        if source != last {
            writeln!(out, "{}{source}", if last.is_empty() { "" } else { "\n" })?;
            last = source;
        }
        let description = tool.raw.get("description");
        let description = description.as_ref().and_then(|text| text.as_string()).unwrap_or_default();
        // Before it is cut: a part of a secret is not known for one.
        let description = hub.filtered_text(&description);
        let name = tool.name.as_str();
        if all {
            writeln!(out, "  {name}  ({})\n      {}", hints(tool), one_line(&description))?;
        } else {
            let line = one_line(first_sentence(&description));
            // Who looks at a terminal gets lines that fit; who reads on gets all.
            let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(width + 4).max(LEAST));
            writeln!(out, "  {name:width$}  {}", fit(&line, room))?;
        }
    }
    Ok(())
}

fn all_bytes(view: &View) -> usize {
    view.tools().map(|tool| tool.raw.as_bytes().len()).sum()
}

/// What the list costs a client that gives it to a model.
fn cost(view: &View) -> String {
    let (all, listed) = (tokens(all_bytes(view)), tokens(view.listed_bytes()));
    let count = view.tools().count();
    if view.searches() {
        return format!(
            "clients search for these {count} tools: about {listed} tokens in every conversation instead of {all}"
        );
    }
    format!("these {count} tools cost about {all} tokens in every conversation")
}

/// What packs would bring that are not there, and what they need.
fn lacking(out: &mut impl Write, packs: &[Lacking]) -> anyhow::Result<()> {
    for pack in packs.iter().filter(|pack| !pack.tools.is_empty()) {
        writeln!(out, "\n{} (not there: {})", pack.name.word(), one_line(&pack.needs))?;
        for tool in &pack.tools {
            let description = tool.raw.get("description");
            let description = description.as_ref().and_then(|text| text.as_string()).unwrap_or_default();
            writeln!(out, "  {}\n      {}", tool.name.as_str(), one_line(&description))?;
        }
    }
    Ok(())
}

/// Says whose tools are not there.
fn missing(hub: &Hub) -> anyhow::Result<()> {
    for status in hub.upstreams() {
        if matches!(status.state, SourceState::Connected | SourceState::Disabled) {
            continue;
        }
        let (name, state) = (&status.name, status.state.as_str().replace('_', " "));
        let why = status.error.map_or_else(String::new, |error| format!(": {}", one_line(&error)));
        let mut talk = std::io::stderr().lock();
        writeln!(talk, "note: the tools of `{name}` are missing, it is {state}{why}")?;
        writeln!(talk, "hint: `toolgate mcp status {name}` tells more")?;
    }
    Ok(())
}

/// What a tool does to the world, in words.
pub(super) fn hints(tool: &ToolItem) -> String {
    let hints = tool.hints;
    let mut words = vec![if hints.read_only { "reads" } else { "writes" }];
    if hints.destructive {
        words.push("may overwrite");
    }
    if hints.idempotent {
        words.push("repeatable");
    }
    words.push(if hints.open_world { "reaches other systems" } else { "local" });
    words.join(", ")
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

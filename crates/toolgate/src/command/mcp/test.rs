//! `toolgate mcp test`: connect to a server, list what it has, and say how that went and what is wrong with it.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;
use toolgate_check::Finding;
use toolgate_core::{Filter as _, SourceState, SourceStatus};
use toolgate_secrets::Snapshot;
use toolgate_upstream::Definitions;
use toolgate_wire::Raw;

use super::told::{counts, print, reach, remedy, wrapped};
use super::waiting::Waiting;
use super::{Scene, findings};
use crate::cli::Named;
use crate::command::table::one_line;
use crate::exit;
use crate::parts::Parts;
use crate::upstreams::{self, Grants};

/// As many lines of what a program wrote are shown when it fails.
const TAIL: usize = 10;

/// What a trial showed, without secrets.
pub(super) struct Trial {
    pub(super) status: SourceStatus,
    tools: Vec<String>,
    server: Option<String>,
    /// What is wrong with its definitions, the worst first.
    findings: Vec<Finding>,
    seconds: f64,
}

pub(super) async fn run(scene: &Scene<'_>, named: &Named) -> anyhow::Result<ExitCode> {
    scene.table(&named.name)?;
    let (parts, secrets) = scene.parts().await?;
    let waiting = Waiting::begin(format!("{}: connecting", named.name));
    let trial = waiting.on(trial(scene, &named.name, &parts, &secrets)).await?;
    let is_well = trial.status.state == SourceState::Connected;
    if named.json {
        let Trial { status, tools, server, findings, seconds } = &trial;
        let millis = (seconds * 1000.0).round();
        print(&json!({
            "ok": is_well, "status": status, "tools": tools, "server": server, "elapsedMs": millis,
            "findings": findings::json(findings), "next": remedy(status),
        }))?;
    } else {
        let reach = reach(scene.table(&named.name)?);
        let reach = parts.redactor.text(&reach).unwrap_or(reach);
        std::io::stdout().lock().write_all(text(&trial, &reach).as_bytes())?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Tries a server as its table says, whether it is switched on or not.
pub(super) async fn trial(
    scene: &Scene<'_>,
    name: &str,
    parts: &Parts,
    secrets: &Snapshot,
) -> anyhow::Result<Trial> {
    let mut table = scene.table(name)?.clone();
    table.enabled = true;
    let begun = Instant::now();
    let report = upstreams::try_out(
        name,
        &table,
        &scene.settings,
        secrets,
        &Grants::new(parts, &scene.process.tasks),
        &scene.process.tasks,
    )
    .await;
    let seconds = begun.elapsed().as_secs_f64();
    let cleaned = parts.redactor.json(Raw::of(&report.status));
    let bare = SourceStatus { name: name.into(), state: report.status.state, ..SourceStatus::default() };
    let status = serde_json::from_slice(cleaned.as_bytes()).unwrap_or(bare);
    let word = |raw: &Raw, key: &str| raw.get(key).and_then(|text| text.as_string().map(String::from));
    let clean = |text: String| one_line(&parts.redactor.text(&text).unwrap_or(text));
    let definitions = report.definitions.as_deref();
    let tools = definitions.into_iter().flat_map(Definitions::tools);
    let tools = tools.filter_map(|tool| word(tool, "name")).map(clean).collect();
    let server = definitions.and_then(Definitions::server).and_then(|server| {
        let version = word(server, "version").unwrap_or_default();
        Some(clean(format!("{} {version}", word(server, "name")?)))
    });
    let findings = definitions.map(|definitions| findings::of(definitions, clean)).unwrap_or_default();
    Ok(Trial { status, tools, server, findings, seconds })
}

fn text(trial: &Trial, reach: &str) -> String {
    let Trial { status, tools, server, findings, seconds } = trial;
    let mut text = format!("{}: {reach}\n", one_line(&status.name));
    let mut line = |sign: char, what: &str| text += &format!("  {sign} {}\n", one_line(what));
    if status.state == SourceState::Connected {
        let version = status.version.as_deref().unwrap_or("an unknown version");
        let era = status.era.as_deref().map(|era| format!(" ({era})")).unwrap_or_default();
        let who = server.as_deref().map(|server| format!(" to {server}")).unwrap_or_default();
        line(
            '✓',
            &format!("connected{who} in {seconds:.1} s, over {}, MCP {version}{era}", status.transport),
        );
        line('✓', &format!("it has {}", counts(status)));
    } else {
        let word = super::told::word(status.state);
        let error = status.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
        line('✗', &format!("{word} after {seconds:.1} s{error}"));
    }
    for note in &status.notes {
        line('!', &format!("{}, {} times: {}", note.what, note.times, note.detail));
    }
    if status.state != SourceState::Connected {
        let from = status.stderr.len().saturating_sub(TAIL);
        status.stderr[from..].iter().for_each(|wrote| line('|', wrote));
        remedy(status).iter().for_each(|next| line(' ', &format!("next: {next}")));
        return text;
    }
    if !tools.is_empty() {
        text += &wrapped(tools);
    }
    for (sign, wrong) in findings::lines(&status.name, findings) {
        text += &format!("  {sign} {}\n", one_line(&wrong));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(status: SourceStatus) -> Trial {
        let tools = vec!["read".into(), "write".into()];
        Trial { status, tools, server: Some("notes 1.0".into()), findings: Vec::new(), seconds: 1.26 }
    }

    #[test]
    fn a_server_that_answers_is_told_with_what_it_has() {
        let status = SourceStatus {
            name: "notes".into(),
            transport: "stdio".into(),
            version: Some("2025-11-25".into()),
            era: Some("legacy".into()),
            tools: 2,
            ..SourceStatus::default()
        };
        let expect = "notes: node x.js
  ✓ connected to notes 1.0 in 1.3 s, over stdio, MCP 2025-11-25 (legacy)
  ✓ it has 2 tools, no resources, no prompts
    read, write
  ✓ its definitions are right; `toolgate check notes` tries how it converses, too
";
        assert_eq!(text(&trial(status), "node x.js"), expect);
    }

    #[test]
    fn a_server_that_does_not_is_told_with_what_it_wrote() {
        let status = SourceStatus {
            name: "notes".into(),
            state: SourceState::Failed,
            error: Some("it ended before it answered".into()),
            stderr: (1..=12).map(|count| format!("line {count}\u{1b}[1m")).collect(),
            ..SourceStatus::default()
        };
        let text = text(&trial(status), "node x.js");
        assert!(text.starts_with("notes: node x.js\n  ✗ failed after 1.3 s: it ended before it answered\n"));
        assert!(text.contains("  | line 3 [1m\n") && !text.contains("line 2 "), "{text}");
        let status =
            SourceStatus { state: SourceState::NeedsAuth, name: "notes".into(), ..Default::default() };
        assert!(super::text(&trial(status), "u").contains("next: toolgate mcp auth notes"));
    }
}

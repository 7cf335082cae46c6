//! `toolgate pins`: tools of other servers whose definition is not what it was.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_policy::pins::PinReport;

use crate::cli;
use crate::command::by_hand::recorded;
use crate::command::table::one_line;
use crate::parts::Parts;

/// Runs one of the subcommands.
pub(crate) async fn run(parts: &Parts, command: &cli::Pins) -> anyhow::Result<ExitCode> {
    let pins = &parts.pins;
    match command {
        cli::Pins::List { json } => list(pins.list().await?, *json)?,
        cli::Pins::Show { source, tool, json } => {
            let report = pins.show(source, tool).await?;
            let mut out = std::io::stdout().lock();
            if *json {
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            } else {
                writeln!(out, "{}", report.to_string().trim_end())?;
            }
        }
        cli::Pins::Accept { source, tool: Some(tool), digest } => {
            let by = toolgate_host::user_name();
            let accepting = async {
                let accepted = match digest {
                    Some(digest) => pins.accept_exactly(source, tool, digest, &by).await?,
                    None => pins.accept(source, tool, &by).await?,
                };
                Ok(((), format!("{source} {}", named(&accepted))))
            };
            recorded(&parts.audit, "pins accept", accepting).await?;
            say(&format!("accepted `{tool}` of `{source}` as it is now"))?;
        }
        cli::Pins::Accept { source, tool: None, .. } => {
            let accepted = recorded(&parts.audit, "pins accept", async {
                let accepted = pins.accept_all(source, &toolgate_host::user_name()).await?;
                let named: Vec<String> = accepted.iter().map(named).collect();
                Ok((accepted, format!("{source} {}", named.join(" "))))
            });
            let names: Vec<String> = accepted.await?.into_iter().map(|report| report.tool).collect();
            let tools = if names.len() == 1 { "tool" } else { "tools" };
            say(&format!("accepted {} {tools} of `{source}`: {}", names.len(), names.join(", ")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A tool as the record names it: a definition that was accepted is known by its digest.
fn named(accepted: &PinReport) -> String {
    format!("{} {}", accepted.tool, accepted.digest.as_deref().unwrap_or_default()).trim_end().to_owned()
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{}", one_line(line))?)
}

fn list(mut all: Vec<PinReport>, as_json: bool) -> anyhow::Result<()> {
    all.sort_by(|a, b| (b.standing, &a.source, &a.tool).cmp(&(a.standing, &b.source, &b.tool)));
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": all}))?)?;
        return Ok(());
    }
    if all.is_empty() {
        return say("no tool of another server was seen yet");
    }
    for report in &all {
        let parts: Vec<&str> = report.findings.iter().map(|finding| finding.part.as_str()).collect();
        let line = format!(
            "{:8}  {} {}  {}",
            report.standing.as_str(),
            report.source,
            report.tool,
            parts.join(", ")
        );
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}

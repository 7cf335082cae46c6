//! `toolgate check`: a report on any MCP server.

mod subject;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use toolgate_check::{GROUPS, Level, Limits, Report, Rule};
use toolgate_core::{Error, Filter as _, Kind};

use crate::cli::Check;
use crate::command::Process;
use crate::command::progress::Steps;
use crate::exit;
use crate::settings::Settings;
use subject::Found;

/// Checks a server, and prints what was found.
pub(crate) async fn run(check: &Check, settings: &Settings, process: &Process) -> anyhow::Result<ExitCode> {
    let Found { name, subject, signs_in } = subject::find(check, settings, process).await?;
    let limits = Limits { answer: Duration::from_millis(check.timeout), ..Limits::default() };
    let report = {
        let steps = Steps::begin("check");
        toolgate_check::check(&subject, limits, &process.tasks, &|step| steps.say(step)).await
    };
    let report = report.map_err(|error| {
        let hint = if error.wants_to_know_who() && signs_in {
            format!("sign in with `toolgate mcp auth {name}`, or else {}", error.hint())
        } else {
            error.hint().to_owned()
        };
        Error::new(Kind::InvalidInput, format!("`{name}` cannot be checked: {error}")).hint(hint)
    })?;
    let clean = |text: &str| process.redactor.text(text).unwrap_or_else(|| text.to_owned());
    let report = report.cleaned(clean);
    if let Some(file) = &check.junit {
        write_file(file, &report.junit(&name))?;
    }
    let mut out = std::io::stdout().lock();
    if check.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report.json(&name))?)?;
    } else {
        out.write_all(report.text(&name).as_bytes())?;
    }
    Ok(code(&report, check.strict))
}

fn code(report: &Report, strict: bool) -> ExitCode {
    let worst = if strict { Level::Warning } else { Level::Error };
    if report.worst() >= Some(worst) { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS }
}

fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("`{}` cannot be written", file.display()))
}

/// Prints all rules.
pub(crate) fn list_rules(as_json: bool) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let item = |group: &str, rule: &Rule| json!({"rule": rule.id, "group": group, "level": rule.level, "says": rule.says, "mend": rule.mend});
        let items: Vec<Value> =
            GROUPS.iter().flat_map(|group| group.rules.iter().map(|rule| item(group.name, rule))).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": items}))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (place, group) in GROUPS.iter().enumerate() {
        writeln!(out, "{}{}", if place == 0 { "" } else { "\n" }, group.name)?;
        for rule in group.rules {
            writeln!(out, "  {:7}  {}\n           {}", rule.level, rule.id, rule.says)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

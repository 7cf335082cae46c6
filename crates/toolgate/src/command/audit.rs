//! `toolgate audit`: the record of all calls.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use toolgate_audit::{Archive, Head};
use toolgate_core::{AuditQuery, AuditRow, iso8601};
use toolgate_host::Clock;

use crate::cli::{Audit, Which};
use crate::command::table::one_line;
use crate::exit;

/// Runs one of the subcommands.
pub(crate) async fn run(archive: &Archive, audit: &Audit) -> anyhow::Result<ExitCode> {
    match audit {
        Audit::Search { which, limit, json } => search(archive, &which.query(*limit), *json).await?,
        Audit::Export { which } => {
            // Whole lines or none: a pipe that is closed early ends it quietly.
            let mut out = std::io::BufWriter::new(std::io::stdout());
            let count = archive.export(&mut out, &which.query(u32::MAX)).await?;
            out.flush()?;
            writeln!(std::io::stderr().lock(), "{count} records")?;
        }
        Audit::Heads => {
            let heads = archive.heads().await?;
            writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(&heads)?)?;
        }
        Audit::Verify { heads, json } => return verify(archive, heads.as_deref(), *json).await,
    }
    Ok(ExitCode::SUCCESS)
}

async fn search(archive: &Archive, query: &AuditQuery, as_json: bool) -> anyhow::Result<()> {
    let found = archive.search(query).await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        let items: Result<Vec<Value>, _> = found.iter().map(|row| serde_json::from_str(&row.line)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": items?}))?)?;
        return Ok(());
    }
    if found.is_empty() {
        writeln!(std::io::stderr().lock(), "no call that fits is on record")?;
    }
    for row in &found {
        writeln!(out, "{}", line(row))?;
    }
    Ok(())
}

fn line(row: &AuditRow) -> String {
    let record: Value = serde_json::from_str(&row.line).unwrap_or_default();
    let text = |key: &str| record[key].as_str().map(|text| format!("  {key} {text}")).unwrap_or_default();
    let line = format!(
        "{}  {}  {} → {}{}{}{}",
        iso8601(row.time_ms),
        row.outcome,
        row.principal,
        row.target,
        text("code"),
        text("rule"),
        text("approver")
    );
    one_line(&line)
}

async fn verify(archive: &Archive, heads: Option<&Path>, as_json: bool) -> anyhow::Result<ExitCode> {
    let heads: Vec<Head> = match heads {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("`{}` cannot be read", file.display()))?;
            serde_json::from_str(&text)
                .with_context(|| format!("`{}` is no output of `toolgate audit heads`", file.display()))?
        }
        None => Vec::new(),
    };
    let report = archive.verify(&heads).await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        writeln!(out, "{}", report.to_string().trim_end())?;
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

impl Which {
    fn query(&self, limit: u32) -> AuditQuery {
        let back = self.since.and_then(|since| since.limited());
        let since_ms = back.map(|back| {
            Clock::system().unix_ms().saturating_sub(u64::try_from(back.as_millis()).unwrap_or(u64::MAX))
        });
        AuditQuery {
            since_ms,
            principal: self.principal.clone(),
            target: self.target.clone(),
            outcome: self.outcome.clone(),
            limit,
            ..AuditQuery::default()
        }
    }
}

//! `toolgate mcp list`: the servers, and how each stands.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_core::{SourceState, SourceStatus};
use toolgate_host::terminal;

use super::told::{next, print, reach, say, sign, word};
use super::{Scene, running};
use crate::command::table::{fit, one_line};
use crate::upstreams::Kept;

/// The room for a name, where names are short.
const NAME: usize = 12;

/// A server as it is listed.
struct Row {
    name: String,
    /// How it stands; not known where no hub runs, unless it is switched off.
    state: Option<SourceState>,
    tools: Option<usize>,
    reach: String,
    transport: &'static str,
    error: Option<String>,
    next: Option<String>,
}

pub(super) async fn run(scene: &Scene<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let statuses = running::all(&scene.settings).await?;
    let rows = rows(scene, statuses.as_deref()).await?;
    if as_json {
        let items: Vec<Value> = rows.iter().map(Row::json).collect();
        print(&json!({"running": statuses.is_some(), "items": items}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        say(
            "there are no servers; add one with `toolgate mcp add`, or those of your clients with `toolgate mcp import`",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = std::io::stdout().lock();
    let columns = terminal::columns(&out).unwrap_or(usize::MAX);
    for line in lines(&rows) {
        writeln!(out, "{}", fit(&line, columns))?;
    }
    drop(out);
    if statuses.is_none() {
        say("no toolgate runs, so nothing is started; `toolgate mcp status` connects to each")?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn rows(scene: &Scene<'_>, statuses: Option<&[SourceStatus]>) -> anyhow::Result<Vec<Row>> {
    let known: BTreeMap<&str, &SourceStatus> =
        statuses.into_iter().flatten().map(|status| (&*status.name, status)).collect();
    let (parts, _) = scene.parts().await?;
    let switches = Kept::new(parts.database).switches().await;
    let row = |(name, table): (&String, &toolgate_upstream::UpstreamConfig)| {
        let status = known.get(name.as_str());
        let on = switches.get(name).copied().unwrap_or(table.enabled);
        Row {
            name: name.clone(),
            state: status.map(|status| status.state).or((!on).then_some(SourceState::Disabled)),
            tools: status.map(|status| status.tools),
            reach: reach(table),
            transport: if table.url.is_some() { "http" } else { "stdio" },
            error: status.and_then(|status| status.error.clone()),
            next: status.and_then(|status| next(status)),
        }
    };
    Ok(scene.settings.mcp.iter().map(row).collect())
}

/// The table, with a line of its own for what is wrong.
fn lines(rows: &[Row]) -> Vec<String> {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default().max(NAME);
    let mut lines = vec![format!("  {:width$}  {:13}  {:>5}  REACHED BY", "NAME", "STATE", "TOOLS")];
    for row in rows {
        let (sign, word) = row.state.map_or(('·', "not running"), |state| (sign(state), word(state)));
        let tools = row.tools.map_or_else(|| "-".to_owned(), |tools| tools.to_string());
        lines.push(format!("{sign} {:width$}  {word:13}  {tools:>5}  {}", row.name, row.reach));
        lines.extend(row.error.iter().map(|error| format!("  {:width$}  {}", "", one_line(error))));
        lines.extend(row.next.iter().map(|next| format!("  {:width$}  next: {}", "", one_line(next))));
    }
    lines
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "state": self.state,
            "tools": self.tools,
            "transport": self.transport,
            "reach": self.reach,
            "error": self.error,
            "next": self.next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_every_state_with_the_next_step() {
        let row = |name: &str, state, error: Option<&str>, next: Option<&str>| Row {
            name: name.into(),
            state,
            tools: state.map(|_| 3),
            reach: "npx -y server".into(),
            transport: "stdio",
            error: error.map(Into::into),
            next: next.map(Into::into),
        };
        let rows = [
            row("a", Some(SourceState::Connected), None, None),
            row("b", Some(SourceState::Failed), Some("it ended\nat once"), Some("toolgate mcp logs b")),
            row("c", Some(SourceState::Disabled), None, Some("toolgate mcp enable c")),
            row("d", Some(SourceState::NeedsAuth), None, Some("toolgate mcp auth d")),
            row("e-with-a-long-name", None, None, None),
        ];
        let expect = "  NAME                STATE          TOOLS  REACHED BY
✓ a                   connected          3  npx -y server
✗ b                   failed             3  npx -y server
                      it ended at once
                      next: toolgate mcp logs b
– c                   disabled           3  npx -y server
                      next: toolgate mcp enable c
! d                   needs sign-in      3  npx -y server
                      next: toolgate mcp auth d
· e-with-a-long-name  not running        -  npx -y server";
        assert_eq!(lines(&rows).join("\n"), expect);
    }
}

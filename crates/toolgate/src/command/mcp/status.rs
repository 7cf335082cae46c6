//! `toolgate mcp status`: in detail, how servers stand.

use std::io::Write as _;
use std::process::ExitCode;

use futures_util::future::join_all;
use serde_json::json;
use toolgate_core::{SourceState, SourceStatus};
use toolgate_upstream::UpstreamConfig;

use super::table::File;
use super::told::{counts, is_trouble, next, print, reach, say, sign, word};
use super::waiting::Waiting;
use super::{Scene, running, test};
use crate::command::table::one_line;
use crate::exit;
use crate::upstreams::Kept;

/// How many servers are tried at once, where no hub can tell.
const AT_ONCE: usize = 8;

pub(super) async fn run(scene: &Scene<'_>, name: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Some(name) = name {
        scene.table(name)?;
    }
    let asked = match name {
        Some(name) => running::one(&scene.settings, name).await?.map(|status| vec![status]),
        None => all(scene).await?,
    };
    let (is_running, statuses) = match asked {
        Some(statuses) => (true, statuses),
        None => {
            let (is_running, why) = unasked(scene, name).await?;
            if !as_json {
                say(&why)?;
            }
            (is_running, tried(scene, name).await?)
        }
    };
    if as_json {
        print(&json!({"running": is_running, "items": statuses}))?;
    } else {
        let mut out = std::io::stdout().lock();
        for (place, status) in statuses.iter().enumerate() {
            let gap = if place == 0 { "" } else { "\n" };
            write!(out, "{gap}{}", text(status, scene.settings.mcp.get(&status.name)))?;
        }
    }
    if statuses.is_empty() && scene.settings.mcp.is_empty() && !as_json {
        say("there are no servers; add one with `toolgate mcp add`")?;
    }
    let bad = statuses.iter().any(|status| is_trouble(status.state));
    Ok(if bad { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

/// How all servers of the running hub stand, if one runs. That it lacks some of ours is told beside.
async fn all(scene: &Scene<'_>) -> anyhow::Result<Option<Vec<SourceStatus>>> {
    let file = File::open(scene)?.path;
    let Some((statuses, lacking)) = running::all_and_lacking(&scene.settings, &file).await? else {
        return Ok(None);
    };
    if !lacking.is_empty()
        && let Some(why) = running::lacks(&scene.settings, &lacking, &file).await?
    {
        say(&format!("note: {why}"))?;
    }
    Ok(Some(statuses))
}

/// Whether a hub runs that could not tell, and why the servers are asked themselves.
async fn unasked(scene: &Scene<'_>, name: Option<&str>) -> anyhow::Result<(bool, String)> {
    let file = File::open(scene)?.path;
    let why = match name {
        Some(name) => running::lacks(&scene.settings, &[name], &file).await?,
        None => None,
    };
    Ok(match why {
        Some(why) => (true, format!("{why}; so the server is tried once")),
        None => (false, "no toolgate runs, so each server is tried once".into()),
    })
}

/// Asks the servers themselves.
async fn tried(scene: &Scene<'_>, name: Option<&str>) -> anyhow::Result<Vec<SourceStatus>> {
    let chosen: Vec<&String> =
        scene.settings.mcp.keys().filter(|known| name.is_none_or(|name| name == *known)).collect();
    let (parts, secrets) = scene.parts().await?;
    let switches = Kept::new(parts.database.clone()).switches().await;
    let waiting = Waiting::begin("connecting".into());
    let all = async {
        let mut statuses = Vec::new();
        for some in chosen.chunks(AT_ONCE) {
            let one = async |name: &str| {
                let on = switches.get(name).copied().unwrap_or(scene.table(name)?.enabled);
                if !on {
                    let state = SourceState::Disabled;
                    return Ok(SourceStatus { name: name.to_owned(), state, ..SourceStatus::default() });
                }
                // What it ran as has ended with the trial.
                let status = test::trial(scene, name, &parts, &secrets).await?.status;
                Ok(SourceStatus { processes: Vec::new(), connections: 0, ..status })
            };
            statuses.extend(join_all(some.iter().map(|name| one(name))).await);
        }
        statuses.into_iter().collect()
    };
    waiting.on(all).await
}

/// A server in one line, after something was done to it.
pub(super) fn brief(status: Option<&SourceStatus>) -> anyhow::Result<()> {
    let Some(status) = status else { return Ok(()) };
    let mut out = std::io::stdout().lock();
    let has = if is_trouble(status.state) { String::new() } else { format!(", {}", counts(status)) };
    writeln!(out, "{} {} {}{has}", sign(status.state), one_line(&status.name), word(status.state))?;
    for line in status.error.iter().map(|error| one_line(error)).chain(told_next(status)) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn told_next(status: &SourceStatus) -> Option<String> {
    next(status).map(|next| format!("next: {}", one_line(&next)))
}

/// A server in detail.
pub(super) fn text(status: &SourceStatus, table: Option<&UpstreamConfig>) -> String {
    let mut text = format!("{} {}  {}\n", sign(status.state), one_line(&status.name), word(status.state));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text += &format!("    {name:10}  {}\n", one_line(value));
        }
    };
    line("error", status.error.as_deref().unwrap_or_default());
    line("next", &next(status).unwrap_or_default());
    line("reached by", &table.map(reach).unwrap_or_default());
    line("speaks", &speaks(status));
    line("has", &if status.state == SourceState::Disabled { String::new() } else { counts(status) });
    let processes: Vec<String> = status.processes.iter().map(ToString::to_string).collect();
    line("processes", &processes.join(", "));
    if status.in_flight > 0 {
        line("calls", &format!("{} now", status.in_flight));
    }
    if status.lost > 0 {
        line("lost", &format!("its connection, {} times", status.lost));
    }
    for note in &status.notes {
        line("noticed", &format!("{}, {} times: {}", note.what, note.times, note.detail));
    }
    if let Some(last) = status.stderr.last().filter(|_| is_trouble(status.state)) {
        line("it wrote", last);
    }
    text
}

fn speaks(status: &SourceStatus) -> String {
    let version = match (&status.version, &status.era) {
        (Some(version), Some(era)) => format!("MCP {version} ({era}), "),
        (Some(version), None) => format!("MCP {version}, "),
        (None, _) => String::new(),
    };
    format!("{version}{}", status.transport)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use toolgate_core::Note;

    use super::*;

    #[test]
    fn a_server_in_detail_says_what_is_wrong_and_what_to_do() {
        let status = SourceStatus {
            name: "notes".into(),
            state: SourceState::Failed,
            error: Some("it ended\u{1b}[2J".into()),
            transport: "stdio".into(),
            version: Some("2025-11-25".into()),
            era: Some("legacy".into()),
            tools: 2,
            processes: vec![7, 8],
            in_flight: 1,
            lost: 3,
            notes: vec![Note { what: Cow::Borrowed("broken JSON"), times: 2, detail: "{".into() }],
            stderr: vec!["first".into(), "cannot find module".into()],
            ..SourceStatus::default()
        };
        let table = serde_json::from_value(json!({"command": "node", "args": ["x.js"]})).unwrap();
        let expect = "✗ notes  failed
    error       it ended [2J
    next        toolgate mcp logs notes
    reached by  node x.js
    speaks      MCP 2025-11-25 (legacy), stdio
    has         2 tools, no resources, no prompts
    processes   7, 8
    calls       1 now
    lost        its connection, 3 times
    noticed     broken JSON, 2 times: {
    it wrote    cannot find module
";
        assert_eq!(text(&status, Some(&table)), expect);
    }
}

//! `toolgate status`: who is connected to the running hub, and what runs.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_front::control::{self, ConnectionStatus, OtherStatus, RunStatus, Status};

use crate::command::table::one_line;
use crate::exit;
use crate::settings::Settings;
use crate::share;

/// Asks the process that owns the data folder.
pub(crate) async fn run(settings: &Settings, as_json: bool) -> anyhow::Result<ExitCode> {
    let folder = settings.data_dir.as_path();
    let status =
        control::status(folder).await.map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?;
    print(folder, status.as_ref(), as_json)?;
    Ok(if status.is_some() { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Tells of a hub that runs although its configuration is broken by now; the error is still to be told.
pub(crate) async fn run_despite(folder: &Path, as_json: bool) -> anyhow::Result<()> {
    match control::status(folder).await {
        Ok(Some(status)) => print(folder, Some(&status), as_json),
        Ok(None) | Err(_) => Ok(()),
    }
}

fn print(folder: &Path, status: Option<&Status>, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&as_value(folder, status)?)?)?;
    } else if let Some(status) = status {
        out.write_all(text(folder, status).as_bytes())?;
    } else {
        let mut talk = std::io::stderr().lock();
        writeln!(talk, "error: no toolgate runs on `{}`", folder.display())?;
        writeln!(
            talk,
            "hint: start one with `toolgate serve --http`, or let a client start `toolgate serve`"
        )?;
    }
    Ok(())
}

fn as_value(folder: &Path, status: Option<&Status>) -> anyhow::Result<Value> {
    let mut value = json!({"running": status.is_some(), "dataDir": folder});
    if let Some(status) = status
        && let (Value::Object(value), Value::Object(status)) = (&mut value, serde_json::to_value(status)?)
    {
        value.extend(status);
    }
    Ok(value)
}

fn text(folder: &Path, status: &Status) -> String {
    let address = match &status.address {
        Some(address) => format!("http://{address}/mcp"),
        None => "standard input and output".into(),
    };
    let file = share::file_of(status).filter(|file| !file.is_empty()).map_or("no file".into(), one_line);
    let mut text = format!(
        "toolgate {}, process {}, up {}\n  serves   {address}\n  sources  {}\n  reads    {file}\n  data     {}\n",
        status.version,
        status.pid,
        duration(status.uptime_seconds),
        status.sources.join(", "),
        folder.display(),
    );
    for (part, trouble) in &status.troubles {
        line(&mut text, &format!("trouble  {}: {}", one_line(part), one_line(trouble)));
    }
    heading(&mut text, status.connected, ("client", "clients"));
    let untold = status.connected.saturating_sub(status.connections.len());
    if untold > 0 {
        line(&mut text, &format!("{untold} more, connected before these"));
    }
    for connection in &status.connections {
        line(&mut text, &client(connection));
        for run in status.runs.iter().filter(|run| run.connection == Some(connection.id)) {
            line(&mut text, &format!("    {}", running(run)));
        }
    }
    let known = |run: &&RunStatus| status.connections.iter().any(|known| Some(known.id) == run.connection);
    let loose: Vec<&RunStatus> = status.runs.iter().filter(|run| !known(run)).collect();
    if !loose.is_empty() {
        let words = ("call without a lasting connection", "calls without a lasting connection");
        heading(&mut text, loose.len(), words);
        loose.iter().for_each(|run| line(&mut text, &format!("{}, {}", running(run), run.transport)));
    }
    if !status.others.is_empty() {
        let words = ("other process on the same data", "other processes on the same data");
        heading(&mut text, status.others.len(), words);
        status.others.iter().for_each(|other| line(&mut text, &process(other)));
    }
    text
}

fn heading(text: &mut String, count: usize, (one, more): (&str, &str)) {
    let many = if count == 0 { "no".into() } else { count.to_string() };
    text.push_str(&format!("\n{many} {}\n", if count == 1 { one } else { more }));
}

fn line(text: &mut String, line: &str) {
    text.push_str(&format!("  {line}\n"));
}

fn client(connection: &ConnectionStatus) -> String {
    let name = connection.client.as_deref().map_or_else(|| "unnamed".into(), one_line);
    let version = connection.client_version.as_deref().map(one_line).filter(|version| !version.is_empty());
    let name = version.map_or_else(|| name.clone(), |version| format!("{name} {version}"));
    let process = connection.pid.map_or_else(String::new, |pid| format!(", process {pid}"));
    format!(
        "{name}, {}{process}, as {}, for {}",
        connection.transport,
        one_line(&connection.principal),
        duration(connection.seconds)
    )
}

fn running(run: &RunStatus) -> String {
    let what = if run.target == "tool" { String::new() } else { format!("{} ", run.target) };
    format!("runs {what}`{}` for {}", one_line(&run.name), duration(run.elapsed_ms / 1000))
}

fn process(other: &OtherStatus) -> String {
    let process = other.pid.map_or_else(|| "a process".into(), |pid| format!("process {pid}"));
    let address =
        other.address.as_ref().map_or_else(String::new, |address| format!(" on {}", one_line(address)));
    format!(
        "{process}, toolgate {}, serves {}{address}",
        one_line(&other.version),
        one_line(&other.transport)
    )
}

/// The two largest units that are not nothing.
fn duration(seconds: u64) -> String {
    let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let mut left = seconds;
    let mut parts = Vec::new();
    for (size, unit) in units {
        let count = left / size;
        left %= size;
        if count > 0 || (size == 1 && parts.is_empty()) {
            parts.push(format!("{count} {unit}"));
        }
    }
    parts.truncate(2);
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(connections: usize, runs: usize) -> Status {
        let connection = |id: usize| ConnectionStatus {
            id: id as u64,
            transport: if id == 1 { "attached".into() } else { "http".into() },
            client: (id == 1).then(|| "claude\u{9b}-code".into()),
            client_version: (id == 1).then(|| "2.1".into()),
            principal: "local".into(),
            pid: (id == 1).then_some(77),
            since: "2026-01-01T00:00:00.000Z".into(),
            seconds: 3700,
        };
        let run = |id: usize| RunStatus {
            target: if id == 1 { "tool".into() } else { "resource".into() },
            name: "slow".into(),
            principal: "local".into(),
            transport: "http".into(),
            connection: (id == 1).then_some(1),
            elapsed_ms: 61_000,
        };
        Status {
            pid: 42,
            version: "1.0.0".into(),
            transport: "http".into(),
            address: Some("127.0.0.1:3000".into()),
            started_at: "2026-01-01T00:00:00.000Z".into(),
            uptime_seconds: 90_061,
            terms: [("config".into(), "/etc/toolgate.toml".into())].into(),
            sources: vec!["workspace".into(), "memory".into()],
            troubles: Default::default(),
            connected: connections,
            connections: (1..=connections).map(connection).collect(),
            run_count: runs,
            runs: (1..=runs).map(run).collect(),
            others: Vec::new(),
        }
    }

    #[test]
    fn a_person_reads_who_is_connected_and_what_runs() {
        let mut told = status(2, 2);
        told.others = vec![OtherStatus {
            pid: Some(9),
            version: "1.0.0".into(),
            transport: "stdio".into(),
            address: None,
        }];
        let expect = "\
toolgate 1.0.0, process 42, up 1 d 1 h
  serves   http://127.0.0.1:3000/mcp
  sources  workspace, memory
  reads    /etc/toolgate.toml
  data     /data

2 clients
  claude -code 2.1, attached, process 77, as local, for 1 h 1 min
      runs `slow` for 1 min 1 s
  unnamed, http, as local, for 1 h 1 min

1 call without a lasting connection
  runs resource `slow` for 1 min 1 s, http

1 other process on the same data
  process 9, toolgate 1.0.0, serves stdio
";
        assert_eq!(text(Path::new("/data"), &told), expect);
        assert!(text(Path::new("/data"), &status(0, 0)).ends_with("\nno clients\n"));
        let mut troubled = status(0, 0);
        troubled.troubles.insert("secrets".into(), "the key\nis missing".into());
        assert!(
            text(Path::new("/data"), &troubled).contains("\n  trouble  secrets: the key is missing\n"),
            "one line each"
        );
        let mut many = status(1, 0);
        many.connected = 5;
        assert!(text(Path::new("/data"), &many).contains("\n5 clients\n  4 more, connected before these\n"));
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, expect) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3600, "1 h"),
            (86_399, "23 h 59 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(seconds), expect);
        }
    }
}

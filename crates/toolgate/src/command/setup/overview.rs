//! `toolgate setup` alone: which clients are there, and what each has of us.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_clients::{Client, ConfigFile, Problem, Scope, Server};

use super::Scene;
use crate::cli::Setup;
use crate::command::table::one_line;

/// What a client's file has of us.
enum State {
    /// Nothing.
    None,
    /// An entry by our name, and what it starts or where it connects.
    Entry(String),
    /// The file is broken.
    Broken(Problem),
}

struct Row {
    client: Client,
    installed: bool,
    file: PathBuf,
    state: State,
}

/// Shows the clients.
pub(super) fn run(scene: &Scene, setup: &Setup) -> anyhow::Result<ExitCode> {
    let rows: Vec<Row> =
        Client::ALL.into_iter().filter_map(|client| row(scene, client, &setup.name)).collect();
    let mut out = std::io::stdout().lock();
    if setup.json {
        let items: Vec<Value> = rows.iter().map(as_json).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": items}))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = rows.iter().map(|row| row.client.id().len()).max().unwrap_or_default();
    for row in &rows {
        let installed = match (&scene.scope, row.installed) {
            (Scope::User, true) => "installed",
            (Scope::User, false) => "not found",
            (Scope::Project(_), true) => "has file",
            (Scope::Project(_), false) => "no file",
        };
        writeln!(out, "{:width$}  {installed:9}  {}", row.client.id(), words(scene, row))?;
    }
    drop(out);
    writeln!(std::io::stderr(), "next: {}", next(scene, &rows, setup))?;
    Ok(ExitCode::SUCCESS)
}

fn row(scene: &Scene, client: Client, name: &str) -> Option<Row> {
    let first = scene.folders.files(client, &scene.scope).into_iter().next()?;
    let installed = match &scene.scope {
        Scope::User => scene.folders.is_installed(client),
        Scope::Project(_) => first.exists(),
    };
    let (file, state) = match ConfigFile::find(client, &scene.folders, &scene.scope, name) {
        Ok(file) => {
            let file = file?;
            (file.path().to_owned(), state(&file, name))
        }
        Err(problem) => (problem.path().to_owned(), State::Broken(problem)),
    };
    Some(Row { client, installed, file, state })
}

fn state(file: &ConfigFile, name: &str) -> State {
    let Some(entry) = file.entry(name) else { return State::None };
    State::Entry(match &entry.server {
        Some(Server::Local(local)) => local.command.clone(),
        Some(Server::Remote(remote)) => remote.url.clone(),
        None => "nothing".to_owned(),
    })
}

fn words(scene: &Scene, row: &Row) -> String {
    let file = scene.short(&row.file);
    match &row.state {
        State::None if row.installed => format!("not set up in {file}"),
        State::None => format!("would be set up in {file}"),
        State::Entry(what) => format!("set up in {file}: {}", one_line(what)),
        State::Broken(problem) => {
            let place = problem.place().map(|place| format!(":{}:{}", place.line, place.column));
            format!("{file}{} is broken: {}", place.unwrap_or_default(), problem.message())
        }
    }
}

fn next(scene: &Scene, rows: &[Row], setup: &Setup) -> String {
    let project = if setup.project { " --project" } else { "" };
    let open = rows.iter().find(|row| row.installed && matches!(row.state, State::None));
    let broken = || rows.iter().find(|row| matches!(row.state, State::Broken(_)));
    if let (None, Some(row)) = (open, broken()) {
        return format!("mend {}, then run this again", scene.short(&row.file));
    }
    match open {
        Some(row) => format!("see the change with `toolgate setup {}{project}`", row.client.id()),
        None if rows.iter().any(|row| row.installed) => {
            "all is set up; `toolgate tools list` shows the tools".into()
        }
        None => format!("none was found; see the change all the same with `toolgate setup CLIENT{project}`"),
    }
}

fn as_json(row: &Row) -> Value {
    let (state, detail) = match &row.state {
        State::None => ("none", Value::Null),
        State::Entry(what) => ("entry", json!(what)),
        State::Broken(problem) => ("broken", json!(problem.to_string())),
    };
    json!({
        "client": row.client.id(),
        "title": row.client.title(),
        "installed": row.installed,
        "file": row.file,
        "state": state,
        "detail": detail,
    })
}

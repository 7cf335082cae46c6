//! `toolgate mcp import`: the servers that AI clients use already become tables of `toolgate.toml`.

mod choice;
mod journal;
mod preview;
mod undo;

use std::process::ExitCode;

use anyhow::Context as _;
use toolgate_clients::import::{Findings, Look, Withdrawal, look, withdraw};
use toolgate_clients::{Client, Entry, Folders, Plan, Server, System};
use toolgate_config::process_environment;
use toolgate_host::Secret;

use super::table::File;
use super::told::say;
use super::{Scene, running, table};
use crate::cli::Import;
use crate::cli::setup::NAME;
use crate::command::by_hand::recorded;
use crate::settings::Settings;
use choice::{Choice, Item};

/// What an import changes.
struct Change {
    choice: Choice,
    file: File,
    /// What our file will hold.
    after: String,
    /// The same as people see it.
    shown: String,
    withdrawals: Vec<(Withdrawal, Plan)>,
}

pub(super) async fn run(scene: &Scene<'_>, import: &Import) -> anyhow::Result<ExitCode> {
    if import.undo {
        return undo::run(scene, import.json).await;
    }
    let findings = find(scene, import.client)?;
    let change = change(scene, import, findings).await?;
    if import.write {
        make(scene, import, &change).await?;
    }
    preview::tell(import, &change)?;
    if import.write && running::reload(&scene.settings).await?.is_some() {
        say(&read(scene, &change).await?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the running hub makes of what is written.
async fn read(scene: &Scene<'_>, change: &Change) -> anyhow::Result<String> {
    if let Some(Item { found, .. }) = change.choice.new_ones().next() {
        let (settings, name) = (&scene.settings, &found.name);
        if running::once_there(settings, name, "being read", |_| true).await?.is_none()
            && let Some(why) = running::lacks(settings, &[name], &change.file.path).await?
        {
            return Ok(format!("note: {why}"));
        }
    }
    Ok("the running hub has read it; `toolgate mcp list` shows how they stand".into())
}

/// What the clients use.
fn find(scene: &Scene<'_>, client: Option<Client>) -> anyhow::Result<Findings> {
    let environment = process_environment();
    let variable = |name: &str| environment.get(name).map(str::to_owned);
    let folders = Folders::new(System::here(), variable)?;
    let project = std::env::current_dir().context("the working folder cannot be read")?;
    let is_own = |entry: &Entry| is_own(entry, &scene.settings);
    let clients = client.map_or_else(|| Client::ALL.to_vec(), |client| vec![client]);
    Ok(look(&Look { folders: &folders, project: &project, variable: &variable, is_own: &is_own }, &clients))
}

/// Whether an entry leads to ourselves.
fn is_own(entry: &Entry, settings: &Settings) -> bool {
    let port = settings.http.port;
    match &entry.server {
        _ if entry.name == NAME => true,
        Some(Server::Local(local)) => {
            let program = local.command.rsplit(['/', '\\']).next().unwrap_or_default();
            program.trim_end_matches(".exe") == NAME
        }
        Some(Server::Remote(remote)) => ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .any(|host| remote.url.starts_with(&format!("http://{host}:{port}/"))),
        None => false,
    }
}

async fn change(scene: &Scene<'_>, import: &Import, findings: Findings) -> anyhow::Result<Change> {
    let (_, secrets) = scene.parts().await?;
    let choice = Choice::new(findings, import, &scene.settings, &secrets)?;
    let file = File::open(scene)?;
    let (mut after, mut shown) = (file.text().to_owned(), file.text().to_owned());
    for item in choice.new_ones() {
        let (real, seen) = item.tables(import.secrets);
        after = table::with(&after, &item.found.name, &real)?;
        shown = table::with(&shown, &item.found.name, &table::shown(&seen))?;
    }
    let mut withdrawals = Vec::new();
    if import.remove_from_client {
        for what in Withdrawal::of(choice.importable().flat_map(|item| &item.found.origins)) {
            let plan = withdraw(&what)?;
            withdrawals.push((what, plan));
        }
    }
    Ok(Change { choice, file, after, shown, withdrawals })
}

/// Makes the change: first what is kept, then our file, and the clients' files last.
async fn make(scene: &Scene<'_>, import: &Import, change: &Change) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    if import.secrets {
        let (parts, _) = scene.parts().await?;
        for secret in change.choice.new_ones().flat_map(|item| &item.found.secrets) {
            let setting = async {
                parts.secrets.set(&secret.name.parse()?, &Secret::new(secret.expose().to_owned())).await?;
                Ok(((), secret.name.clone()))
            };
            recorded(&parts.audit, "secret set", setting).await?;
            kept.push(secret.name.clone());
        }
    }
    if change.after != change.file.text() {
        change.file.write(change.after.clone()).await?;
    }
    journal::add(scene, change, kept).await?;
    for (_, plan) in &change.withdrawals {
        plan.apply()?;
    }
    Ok(())
}

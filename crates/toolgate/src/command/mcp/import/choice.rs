//! What becomes of each server that was found.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolgate_clients::Problem;
use toolgate_clients::import::{Findings, Found, Literal, Skipped};
use toolgate_core::{Error, Kind};
use toolgate_secrets::Snapshot;
use toolgate_upstream::UpstreamConfig;

use crate::cli::Import;
use crate::settings::Settings;

/// What becomes of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is written.
    New,
    /// It is in our file already.
    There,
    /// It stays where it is, because of this.
    Left(String),
}

/// A server, and what becomes of it.
pub(super) struct Item {
    pub(super) found: Found,
    pub(super) fate: Fate,
}

impl Item {
    /// Its table as it is written, and as people see it before its names are judged.
    pub(super) fn tables(&self, secrets: bool) -> (Map<String, Value>, Map<String, Value>) {
        if secrets {
            return (self.found.table.clone(), self.found.table.clone());
        }
        (self.found.plain(), self.found.masked())
    }
}

/// All that was found, and what becomes of it.
pub(super) struct Choice {
    pub(super) items: Vec<Item>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) problems: Vec<Problem>,
}

impl Choice {
    pub(super) fn new(
        findings: Findings,
        import: &Import,
        settings: &Settings,
        secrets: &Snapshot,
    ) -> Result<Self, Error> {
        let Findings { mut found, skipped, problems } = findings;
        if import.secrets {
            settle_secrets(&mut found, secrets);
        }
        leave_packs(&mut found, settings);
        let item = |found| Item { fate: fate(&found, settings), found };
        let mut items: Vec<Item> = found.into_iter().map(item).collect();
        check_names(&items, &import.only)?;
        if !import.only.is_empty() {
            items.retain(|item| import.only.iter().any(|name| is_called(item, name)));
        }
        Ok(Self { items, skipped, problems })
    }

    /// Those that are to be written.
    pub(super) fn new_ones(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.fate == Fate::New)
    }

    /// Those that Toolgate has afterwards.
    pub(super) fn importable(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !matches!(item.fate, Fate::Left(_)))
    }
}

/// Calls servers otherwise that have the name of a pack, and no two of them the same: in a file the later would replace
/// the earlier.
fn leave_packs(all: &mut [Found], settings: &Settings) {
    let mut taken: HashSet<String> = all.iter().map(|found| found.name.clone()).collect();
    for found in all.iter_mut().filter(|found| settings.is_pack(&found.name)) {
        let first = format!("{}-server", found.name);
        let others = (2..).map(|count| format!("{first}-{count}"));
        let free = std::iter::once(first.clone()).chain(others).find(|name| taken.insert(name.clone()));
        found.notes.push(format!("`{}` is a pack, so it gets another name", found.name));
        found.name = free.unwrap_or(first);
    }
}

fn is_called(item: &Item, name: &str) -> bool {
    item.found.name == name || item.found.origins.iter().any(|origin| origin.name == name)
}

/// A name that nobody uses is a slip.
fn check_names(items: &[Item], only: &[String]) -> Result<(), Error> {
    let Some(unknown) = only.iter().find(|name| !items.iter().any(|item| is_called(item, name))) else {
        return Ok(());
    };
    let error = Error::new(Kind::InvalidInput, format!("no client has a server `{unknown}`"));
    Err(match toolgate_config::nearest(unknown, items.iter().map(|item| &*item.found.name)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`toolgate mcp import` shows those there are"),
    })
}

/// A secret that is kept already under the same name keeps its value, and so does every other that was found.
fn settle_secrets(all: &mut [Found], secrets: &Snapshot) {
    let mut named: Vec<Literal> = all.iter().flat_map(|found| found.secrets.clone()).collect();
    let missing: Vec<String> =
        all.iter().flat_map(|found| &found.missing).map(|(name, _)| name.clone()).collect();
    for found in all {
        for mut secret in found.secrets.clone() {
            let is_other = |value: &str| value != secret.expose();
            let is_kept = |name: &str| secrets.get(name).is_some_and(|kept| is_other(kept.expose()));
            if !is_kept(&secret.name) {
                continue;
            }
            let is_taken =
                |name: &str| named.iter().any(|other| other.name == name && is_other(other.expose()));
            let is_free = |name: &String| !is_kept(name) && !is_taken(name) && !missing.contains(name);
            let free = (2..).map(|count| format!("{}_{count}", secret.name)).find(is_free);
            if let Some(free) = free {
                found.rename_secret(&secret.name, &free);
                secret.name = free;
                named.push(secret);
            }
        }
    }
}

fn fate(found: &Found, settings: &Settings) -> Fate {
    let read =
        |table: &Map<String, Value>| serde_json::from_value::<UpstreamConfig>(Value::Object(table.clone()));
    let (told, plain) = (read(&found.table), read(&found.plain()));
    match (settings.mcp.get(&found.name), told, plain) {
        (_, Err(error), _) | (_, _, Err(error)) => {
            Fate::Left(format!("it cannot be told in our form: {error}"))
        }
        (Some(there), Ok(told), Ok(plain)) if *there == told || *there == plain => Fate::There,
        (Some(_), ..) => {
            let why =
                format!("`toolgate.toml` has another `{}`; remove or rename one of the two", found.name);
            Fate::Left(why)
        }
        (None, ..) => Fate::New,
    }
}

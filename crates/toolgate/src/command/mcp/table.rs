//! The person's file, and the tables of servers in it.

use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::{Map, Value};
use toolgate_clients::import::looks_secret;
use toolgate_config::edit;

use super::Scene;
use crate::command::config::{file, set};
use crate::settings::{self, Sources};

/// The person's file as it is now.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    held: Option<String>,
}

impl File {
    /// The file that is read, or that is to be written.
    pub(super) fn open(scene: &Scene<'_>) -> anyhow::Result<Self> {
        Self::of(&Sources::of(scene.cli)?)
    }

    /// The file that these sources read, or that is to be written.
    pub(crate) fn of(sources: &Sources) -> anyhow::Result<Self> {
        let path = sources.own_file();
        let path = path.context("there is no place for a file\nhint: name one with `--config FILE`")?;
        let held = file::read(&path)?;
        Ok(Self { path, held })
    }

    pub(crate) fn text(&self) -> &str {
        self.held.as_deref().unwrap_or_default()
    }

    /// Whether it has a table for a server.
    pub(crate) fn has(&self, name: &str) -> bool {
        edit::remove_table(self.text(), &key(name)).is_ok()
    }

    /// Puts a text in place of what it holds, if that makes sense as a configuration.
    pub(crate) async fn write(&self, text: String) -> anyhow::Result<()> {
        settings::check(&self.path, Some(&text))
            .map_err(|error| set::refused(&self.path, self.text(), error))?;
        let this = self.clone();
        tokio::task::spawn_blocking(move || file::replace(&this.path, this.held.as_deref(), &text)).await?
    }

    /// Puts back what it held before `written` took its place.
    pub(crate) async fn restore(&self, written: &str) -> anyhow::Result<()> {
        let (this, written) = (self.clone(), written.to_owned());
        tokio::task::spawn_blocking(move || file::replace(&this.path, Some(&written), this.text())).await?
    }
}

/// A text with the table of a server, in place of one of the same name.
pub(crate) fn with(text: &str, name: &str, table: &Map<String, Value>) -> anyhow::Result<String> {
    let without = edit::remove_table(text, &key(name)).unwrap_or_else(|_| text.to_owned());
    Ok(edit::add_table(&without, &key(name), &entries(table))?)
}

/// A text without the table of a server.
pub(crate) fn without(text: &str, name: &str) -> anyhow::Result<String> {
    Ok(edit::remove_table(text, &key(name))?)
}

/// The table of a server as it is written, alone.
pub(crate) fn block(name: &str, table: &Map<String, Value>) -> anyhow::Result<String> {
    with("", name, table)
}

/// A table as people see it: without texts that look like secrets.
pub(crate) fn shown(table: &Map<String, Value>) -> Map<String, Value> {
    let masked = |name: &String, value: &Value| match value.as_str() {
        Some(text) if looks_secret(name, text) => Value::from("…"),
        _ => value.clone(),
    };
    let mut table = table.clone();
    for value in table.values_mut() {
        if let Value::Object(texts) = value {
            *texts = texts.iter().map(|(name, value)| (name.clone(), masked(name, value))).collect();
        }
    }
    table
}

fn entries(table: &Map<String, Value>) -> Vec<(String, String)> {
    table.iter().map(|(key, value)| (key.clone(), edit::literal(value))).collect()
}

fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_bare = !name.is_empty() && name.bytes().all(bare);
    if is_bare { format!("mcp.{name}") } else { format!("mcp.{}", edit::literal(&Value::from(name))) }
}

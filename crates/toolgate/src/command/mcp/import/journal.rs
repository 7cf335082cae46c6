//! What imports did, so that the last one can be taken back. Names and places only: no secret is in here.

use std::path::PathBuf;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use toolgate_clients::import::Withdrawal;
use toolgate_upstream::UpstreamConfig;
use toolgate_wire::Raw;

use super::{Change, Scene};
use crate::command::config::file;

/// The journal's name in the data folder.
const NAME: &str = "imports.json";

/// One import.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Record {
    /// Our file.
    pub(super) file: PathBuf,
    pub(super) written: Vec<Written>,
    pub(super) taken: Vec<Taken>,
    /// The names of secrets that were kept.
    #[serde(default)]
    pub(super) secrets: Vec<String>,
}

/// A table that was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) name: String,
    /// Tells whether it was changed since.
    pub(super) digest: String,
}

/// Entries that were taken out of a client's file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Taken {
    client: String,
    file: PathBuf,
    backup: PathBuf,
    entries: Vec<(Vec<String>, String)>,
}

impl Taken {
    pub(super) fn withdrawal(&self) -> anyhow::Result<Withdrawal> {
        let Self { client, file, backup, entries } = self.clone();
        Ok(Withdrawal { client: client.parse()?, file, backup, entries })
    }
}

/// Tells one table from another.
pub(super) fn digest(table: &UpstreamConfig) -> String {
    toolgate_wire::digest(&Raw::of(table)).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Notes an import.
pub(super) async fn add(scene: &Scene<'_>, change: &Change, secrets: Vec<String>) -> anyhow::Result<()> {
    let read = crate::settings::check(&change.file.path, Some(&change.after))?;
    let written = |name: &String| Some(Written { name: name.clone(), digest: digest(read.mcp.get(name)?) });
    let taken = |what: &Withdrawal| Taken {
        client: what.client.id().to_owned(),
        file: what.file.clone(),
        backup: what.backup.clone(),
        entries: what.entries.clone(),
    };
    let record = Record {
        file: change.file.path.clone(),
        written: change.choice.new_ones().filter_map(|item| written(&item.found.name)).collect(),
        taken: change.withdrawals.iter().map(|(what, _)| taken(what)).collect(),
        secrets,
    };
    if record.written.is_empty() && record.taken.is_empty() {
        return Ok(());
    }
    let (mut records, held) = read_all(scene)?;
    records.push(record);
    write(scene, &records, held).await
}

/// All imports, the last one last, and the journal as it is.
pub(super) fn read_all(scene: &Scene<'_>) -> anyhow::Result<(Vec<Record>, Option<String>)> {
    let path = scene.settings.data_dir.join(NAME);
    let Some(text) = file::read(&path)? else { return Ok((Vec::new(), None)) };
    let records = serde_json::from_str(&text)
        .with_context(|| format!("`{}` is not as it was written\nhint: remove it", path.display()))?;
    Ok((records, Some(text)))
}

/// Puts the journal in place of what it held.
pub(super) async fn write(scene: &Scene<'_>, records: &[Record], held: Option<String>) -> anyhow::Result<()> {
    let path = scene.settings.data_dir.join(NAME);
    let text = serde_json::to_string_pretty(records)? + "\n";
    tokio::task::spawn_blocking(move || file::replace(&path, held.as_deref(), &text)).await?
}

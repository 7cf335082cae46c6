//! The pack's own search, behind a hub without a policy.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};
use toolgate_core::{Call, Client, Hub, Outcome, PackSource, Principal, ServerInfo, Target, Transport};
use toolgate_host::{Secret, Tasks};
use toolgate_packs::vault::{Tools, Vault, VaultConfig, VaultPlace};
use toolgate_wire::Raw;

use crate::query::{self, Answered};

/// What was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    notes: u64,
    /// From nothing to the first answer.
    build_ms: f64,
    before_bytes: u64,
    built_bytes: u64,
    after_bytes: u64,
    queries: Vec<Answered>,
    /// A note is replaced, and the next search finds what it says now.
    changed_ms: Vec<f64>,
}

/// Builds the index, and asks everything so many times.
pub(crate) fn run(folder: &Path, repeats: usize) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let hub = hub(folder)?;
        let before_bytes = crate::resident()?;
        let started = Instant::now();
        let first = search(&hub, &json!({"query": "zzyzzyva"})).await?;
        let build_ms = ms(started);
        let built_bytes = crate::resident()?;
        let mut queries = Vec::new();
        for query in query::all() {
            let mut answered = Answered { name: query.name, found: 0, ms: Vec::new() };
            for _ in 0..repeats {
                let started = Instant::now();
                let answer = search(&hub, &query.input).await?;
                answered.ms.push(ms(started));
                answered.found = usize::try_from(answer["total"].as_u64().unwrap_or(0))?;
            }
            queries.push(answered);
        }
        let changed_ms = changed(&hub, folder, repeats).await?;
        let notes = first["notes"].as_u64().context("no count of notes")?;
        Ok(Measured {
            notes,
            build_ms,
            before_bytes,
            built_bytes,
            after_bytes: crate::resident()?,
            queries,
            changed_ms,
        })
    })
}

/// Replaces a note, as editors do, and searches for what it says now.
async fn changed(hub: &Hub, folder: &Path, repeats: usize) -> Result<Vec<f64>> {
    let (path, beside) = (folder.join(crate::notes::path(1)), folder.join("saved.tmp"));
    let old = fs::read_to_string(&path)?;
    let mut took = Vec::new();
    for round in 0..repeats {
        let word = format!("qqchanged{round}x");
        fs::write(&beside, format!("{old}\n{word}\n"))?;
        fs::rename(&beside, &path)?;
        let started = Instant::now();
        let answer = search(hub, &json!({"query": word})).await?;
        took.push(ms(started));
        if answer["total"] != 1 {
            bail!("the changed note was not found");
        }
    }
    fs::write(&beside, old)?;
    fs::rename(&beside, &path)?;
    Ok(took)
}

fn hub(folder: &Path) -> Result<Hub> {
    let tasks = Tasks::new();
    let config = VaultConfig { root: Some(folder.to_owned()), ..VaultConfig::default() };
    let place = VaultPlace { own: folder.join(".own"), tools: Tools::default(), tasks: &tasks };
    let vault = Vault::new(&config, place, |text| Ok(Secret::new(text.to_owned())))?;
    let info =
        ServerInfo { raw: Raw::literal(r#"{"name":"vault-bench","version":"0.1.0"}"#), instructions: None };
    Ok(Hub::builder(info, tasks.clone()).source(Arc::new(PackSource::new(vault))).build()?)
}

async fn search(hub: &Hub, input: &Value) -> Result<Value> {
    let params = Raw::of(&json!({"name": "vault_search", "arguments": input}));
    let client = Arc::new(Client::unknown(Transport::Http));
    let call = Call::new(Principal::local(), client, Target::Tool("vault_search".parse()?), params);
    match hub.start(call).outcome().await {
        Outcome::Complete(raw) => Ok(raw.to::<Value>()?["structuredContent"].clone()),
        other @ (Outcome::Failed(_) | Outcome::InputRequired { .. } | Outcome::Task(_)) => bail!("{other:?}"),
    }
}

fn ms(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

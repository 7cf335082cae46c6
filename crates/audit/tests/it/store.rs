//! A store in one file that several processes add to, and that a kill does not hurt.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolgate_core::{AuditQuery, AuditRow, Collection, Document, Store, StoreError, Stored, Write, Written};
use toolgate_testkit::MemoryStore;

/// Keeps the audit in a file of JSON lines, and nothing else anywhere but in memory.
pub(crate) struct FileStore {
    path: PathBuf,
    memory: MemoryStore,
}

impl FileStore {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("store"), memory: MemoryStore::new() }
    }

    fn append(&self, rows: &[AuditRow]) -> std::io::Result<()> {
        // Begun anew, because whoever came before may have been cut off.
        let mut batch = vec![b'\n'];
        for row in rows {
            batch.extend(row_json(row).to_string().bytes());
            batch.push(b'\n');
        }
        OpenOptions::new().create(true).append(true).open(&self.path)?.write_all(&batch)
    }

    fn all(&self) -> Vec<AuditRow> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).map(|it| row(&it));
        // Those that were there first stay.
        let mut all = BTreeMap::new();
        for row in rows {
            all.entry((row.writer.clone(), row.sequence)).or_insert(row);
        }
        all.into_values().collect()
    }
}

fn row_json(row: &AuditRow) -> Value {
    json!([row.writer, row.sequence, row.time_ms, row.principal, row.target, row.outcome, row.line])
}

fn row(value: &Value) -> AuditRow {
    let text = |at: usize| value[at].as_str().unwrap().to_owned();
    AuditRow {
        writer: text(0),
        sequence: value[1].as_i64().unwrap(),
        time_ms: value[2].as_u64().unwrap(),
        principal: text(3),
        target: text(4),
        outcome: text(5),
        line: text(6),
    }
}

impl Store for FileStore {
    fn get<'a>(&'a self, collection: Collection, id: &'a str) -> Stored<'a, Option<Document>> {
        self.memory.get(collection, id)
    }

    fn list(&self, collection: Collection) -> Stored<'_, Vec<Document>> {
        self.memory.list(collection)
    }

    fn write(&self, writes: Vec<Write>) -> Stored<'_, Written> {
        self.memory.write(writes)
    }

    fn changes(&self) -> broadcast::Receiver<Collection> {
        self.memory.changes()
    }

    fn append_audit(&self, rows: Vec<AuditRow>) -> Stored<'_, ()> {
        let done = self.append(&rows).map_err(|error| StoreError::new(error.to_string()));
        Box::pin(async { done })
    }

    fn find_audit<'a>(&'a self, query: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>> {
        Box::pin(async {
            let memory = MemoryStore::new();
            memory.append_audit(self.all()).await?;
            memory.find_audit(query).await
        })
    }

    fn prune_audit(&self, _: u64) -> Stored<'_, u64> {
        Box::pin(async { Ok(0) })
    }
}

//! A store in memory, which forgets everything with the process.

use std::collections::BTreeMap;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Barrier, broadcast};
use toolgate_core::{AuditQuery, AuditRow, Collection, Document, Store, StoreError, Stored, Write, Written};
use toolgate_host::Clock;

/// A store in memory: documents with revisions, news of changes, and the audit.
pub struct MemoryStore {
    clock: Clock,
    changes: broadcast::Sender<Collection>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    documents: BTreeMap<(Collection, String), Document>,
    audit: BTreeMap<(String, i64), AuditRow>,
    /// How often a document was read.
    reads: usize,
    /// How often documents were listed.
    lists: usize,
    /// How often records were added, and how long that takes.
    appends: usize,
    appending: Duration,
    failing: bool,
    gathering: Vec<Arc<Barrier>>,
}

impl MemoryStore {
    /// An empty store on the clock of the machine.
    pub fn new() -> Self {
        Self::on(Clock::system())
    }

    /// An empty store on a clock, by which documents expire.
    pub fn on(clock: Clock) -> Self {
        Self { clock, changes: broadcast::channel(64).0, kept: Mutex::default() }
    }

    /// From now on every request fails, or none does.
    pub fn fail(&self, failing: bool) {
        self.lock().failing = failing;
    }

    /// From now on it takes so long to add records.
    pub fn append_slowly(&self, time: Duration) {
        self.lock().appending = time;
    }

    /// How often records were added.
    pub fn appends(&self) -> usize {
        self.lock().appends
    }

    /// How often a single document was read.
    pub fn reads(&self) -> usize {
        self.lock().reads
    }

    /// How often documents were listed.
    pub fn lists(&self) -> usize {
        self.lock().lists
    }

    /// The next so many changes wait for each other before any of them is made, as if asked for at the same moment.
    pub fn gather(&self, changes: usize) {
        self.lock().gathering = iter::repeat_n(Arc::new(Barrier::new(changes)), changes).collect();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<'a, T: Send + 'a>(&self, ask: impl FnOnce(&mut Kept, u64) -> T) -> Stored<'a, T> {
        let now_ms = self.clock.unix_ms();
        let mut kept = self.lock();
        let failing = kept.failing;
        let answer = (!failing).then(|| ask(&mut kept, now_ms));
        Box::pin(async move { answer.ok_or_else(|| StoreError::new("the store in memory was told to fail")) })
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, collection: Collection, id: &'a str) -> Stored<'a, Option<Document>> {
        self.ask(|kept, now_ms| {
            kept.reads += 1;
            kept.find(collection, id).filter(|found| is_live(found, now_ms)).cloned()
        })
    }

    fn list(&self, collection: Collection) -> Stored<'_, Vec<Document>> {
        self.ask(|kept, now_ms| {
            kept.lists += 1;
            let of_it = kept.documents.iter().filter(|((found, _), _)| *found == collection);
            of_it.map(|(_, document)| document).filter(|found| is_live(found, now_ms)).cloned().collect()
        })
    }

    fn write(&self, writes: Vec<Write>) -> Stored<'_, Written> {
        let mut changed: Vec<Collection> = writes.iter().map(Write::collection).collect();
        changed.sort_unstable();
        changed.dedup();
        let gathering = self.lock().gathering.pop();
        Box::pin(async move {
            if let Some(all) = gathering {
                all.wait().await;
            }
            let written = self.ask(|kept, now_ms| kept.write(writes, now_ms)).await?;
            if written == Written::Done {
                // Nobody may listen.
                changed.into_iter().for_each(|collection| drop(self.changes.send(collection)));
            }
            Ok(written)
        })
    }

    fn changes(&self) -> broadcast::Receiver<Collection> {
        self.changes.subscribe()
    }

    fn append_audit(&self, rows: Vec<AuditRow>) -> Stored<'_, ()> {
        let time = self.lock().appending;
        Box::pin(async move {
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
            self.ask(|kept, _| kept.append(rows)).await
        })
    }

    fn find_audit<'a>(&'a self, query: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>> {
        self.ask(|kept, _| kept.find_audit(query))
    }

    fn prune_audit(&self, before_ms: u64) -> Stored<'_, u64> {
        self.ask(|kept, _| kept.prune_audit(before_ms))
    }
}

impl Kept {
    fn append(&mut self, rows: Vec<AuditRow>) {
        self.appends += 1;
        for row in rows {
            self.audit.entry((row.writer.clone(), row.sequence)).or_insert(row);
        }
    }

    fn find(&self, collection: Collection, id: &str) -> Option<&Document> {
        self.documents.get(&(collection, id.to_owned()))
    }

    /// Makes all changes on a copy, which counts only if all could be made.
    fn write(&mut self, writes: Vec<Write>, now_ms: u64) -> Written {
        let mut documents = self.documents.clone();
        for write in writes {
            if !apply(&mut documents, write, now_ms) {
                return Written::Conflict;
            }
        }
        self.documents = documents;
        Written::Done
    }

    fn find_audit(&self, query: &AuditQuery) -> Vec<AuditRow> {
        let mut rows: Vec<&AuditRow> = self.audit.values().filter(|row| fits(row, query)).collect();
        rows.sort_by(|a, b| place(b).cmp(&place(a)));
        rows.into_iter().take(query.limit as usize).cloned().collect()
    }

    fn prune_audit(&mut self, before_ms: u64) -> u64 {
        let before = self.audit.len();
        let last: BTreeMap<String, i64> = self.audit.keys().cloned().collect();
        self.audit
            .retain(|(writer, sequence), row| row.time_ms >= before_ms || last.get(writer) == Some(sequence));
        (before - self.audit.len()) as u64
    }
}

fn is_live(document: &Document, now_ms: u64) -> bool {
    document.expires_ms.is_none_or(|expires_ms| expires_ms > now_ms)
}

/// Makes one change; `false` if someone was faster.
fn apply(documents: &mut BTreeMap<(Collection, String), Document>, write: Write, now_ms: u64) -> bool {
    match write {
        Write::Insert { collection, id, body, expires_ms } => {
            let place = (collection, id.clone());
            if documents.get(&place).is_some_and(|there| is_live(there, now_ms)) {
                return false;
            }
            documents.insert(place, Document { id, revision: 1, body, expires_ms });
        }
        Write::Replace { collection, id, revision, body, expires_ms } => {
            let Some(there) = documents.get_mut(&(collection, id)).filter(|it| it.revision == revision)
            else {
                return false;
            };
            *there = Document { id: there.id.clone(), revision: revision + 1, body, expires_ms };
        }
        Write::Remove { collection, id, revision } => {
            let place = (collection, id);
            if documents.get(&place).is_none_or(|there| there.revision != revision) {
                return false;
            }
            documents.remove(&place);
        }
    }
    true
}

fn place(row: &AuditRow) -> (u64, &str, i64) {
    (row.time_ms, &row.writer, row.sequence)
}

fn fits(row: &AuditRow, query: &AuditQuery) -> bool {
    let is = |wanted: &Option<String>, it: &str| wanted.as_deref().is_none_or(|wanted| wanted == it);
    query.since_ms.is_none_or(|since_ms| row.time_ms >= since_ms)
        && query.until_ms.is_none_or(|until_ms| row.time_ms < until_ms)
        && is(&query.principal, &row.principal)
        && is(&query.outcome, &row.outcome)
        && is(&query.writer, &row.writer)
        && query.target.as_deref().is_none_or(|pattern| matches(pattern, &row.target))
        && query
            .before
            .as_ref()
            .is_none_or(|(time, writer, sequence)| place(row) < (*time, writer.as_str(), *sequence))
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests;

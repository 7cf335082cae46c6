//! A data folder, a store, and writers on both.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolgate_audit::{Archive, Audit, AuditConfig, Parts, Report};
use toolgate_core::{
    AuditQuery, AuditRow, Client, Entry, Principal, Recorder as _, SharedStore, SourceId, Target, Transport,
};
use toolgate_host::{Clock, Tasks};
use toolgate_testkit::MemoryStore;

/// A moment in 2027.
pub(crate) const NOW_MS: u64 = 1_800_000_000_000;
/// How large spool files become, unless a test is about that.
const ROTATE: u64 = 1024 * 1024;

/// A data folder, a store, and a clock.
pub(crate) struct Scene {
    pub(crate) place: tempfile::TempDir,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Clock,
}

/// A process: an audit and the owner of its task.
pub(crate) struct Process {
    pub(crate) audit: Audit,
    pub(crate) tasks: Tasks,
    clock: Clock,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// Where files are written to through memory on every machine.
    pub(crate) fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn at(place: tempfile::TempDir) -> Self {
        let clock = Clock::manual(NOW_MS);
        let store = Arc::new(MemoryStore::on(clock.clone()));
        Self { place, store, clock }
    }

    pub(crate) fn process(&self) -> Process {
        self.process_with(AuditConfig::default(), ROTATE)
    }

    pub(crate) fn process_with(&self, config: AuditConfig, rotate: u64) -> Process {
        let tasks = Tasks::new();
        let parts = Parts {
            data_dir: self.place.path().into(),
            store: self.store.clone(),
            tasks: tasks.clone(),
            clock: self.clock.clone(),
        };
        Process { audit: Audit::rotating(parts, config, rotate), tasks, clock: self.clock.clone() }
    }

    pub(crate) fn archive(&self) -> Archive {
        Archive::new(self.store.clone(), self.place.path())
    }

    pub(crate) async fn verify(&self) -> Report {
        self.archive().verify(&[]).await.unwrap()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path().join("audit")
    }

    /// The spool files, in order.
    pub(crate) fn spools(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    /// Everything in the store, oldest first.
    pub(crate) async fn rows(&self) -> Vec<AuditRow> {
        rows(&(self.store.clone() as SharedStore)).await
    }

    /// Waits until something holds of what is in the store, for some hours: a child that another test is just starting
    /// holds the locks of this process for a moment, and whoever meets one looks again in an hour.
    pub(crate) async fn until(&self, holds: impl Fn(&[AuditRow]) -> bool) -> Vec<AuditRow> {
        for times in 0..10_000 {
            let rows = self.rows().await;
            if holds(&rows) {
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(100) * (1 + times / 100)).await;
        }
        panic!("it never came into the store");
    }
}

impl Process {
    /// Records this many calls of a tool.
    pub(crate) fn record(&self, count: usize) {
        (0..count).for_each(|_| record(&self.audit, self.clock.unix_ms(), "tool_x"));
    }

    /// Ends it as a signal would that asks it to.
    pub(crate) async fn end(self) {
        assert!(self.tasks.shutdown(Duration::from_secs(10)).await);
    }

    /// Ends it while the store does not answer, so that its spool is left as a kill would leave it.
    pub(crate) async fn die(self) {
        self.tasks.shutdown(Duration::ZERO).await;
    }
}

/// What was written to a spool file; the room behind it is zeros.
pub(crate) fn written(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1));
    bytes
}

/// Replaces a file. To empty one and write it anew makes some file systems wait for the disk.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Everything in a store, oldest first.
pub(crate) async fn rows(store: &SharedStore) -> Vec<AuditRow> {
    let query = AuditQuery { limit: 1_000_000, ..AuditQuery::default() };
    let mut rows = store.find_audit(&query).await.unwrap();
    rows.reverse();
    rows
}

/// Records a call of a tool that ran.
pub(crate) fn record(audit: &Audit, time_ms: u64, tool: &str) {
    record_at(audit, time_ms, tool, Some(&SourceId::new("packs")));
}

/// Records a call of a tool that went as far as it did.
pub(crate) fn record_at(audit: &Audit, time_ms: u64, tool: &str, source: Option<&SourceId>) {
    record_call(audit, time_ms, (&Principal::local(), tool), source);
}

/// Records a call of someone.
pub(crate) fn record_by(audit: &Audit, time_ms: u64, principal: &str) {
    record_call(audit, time_ms, (&Principal::named(principal), "tool_x"), Some(&SourceId::new("packs")));
}

fn record_call(audit: &Audit, time_ms: u64, (who, tool): (&Principal, &str), source: Option<&SourceId>) {
    let target = Target::Tool(tool.parse().unwrap());
    audit.record(&Entry {
        time_ms,
        principal: who,
        client: &Client::unknown(Transport::Stdio),
        target: &target,
        name: target.name(),
        source,
        digest: "qS0yGtMSVwNhKWwpFdV0GBLbmvSvK6z7zC0rDqGBzfA",
        arguments: None,
        code: None,
        outcome: "complete",
        took: Duration::from_micros(1234),
        rule: Some("allow tools"),
        approver: None,
    });
}

//! The recorder: what the hub tells goes to the desk, and a task brings it into the store.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;
use toolgate_core::{Entry, Error, Kind, Recorder, Result, SharedStore};
use toolgate_host::{Clock, Tasks};

use crate::archive::Archive;
use crate::config::{AuditConfig, OnFull};
use crate::desk::Desk;
use crate::filler;
use crate::folder::spool_folder;
use crate::line;
use crate::note::Head;
use crate::spool::ROTATE;

/// With so many records waiting the copying begins early.
pub(crate) const MANY: u32 = 2048;

/// What the audit works with.
pub struct Parts {
    /// The data folder; the spools are in `audit` there.
    pub data_dir: PathBuf,
    /// Where records end up.
    pub store: SharedStore,
    /// Who owns the task that brings them there.
    pub tasks: Tasks,
    /// The time.
    pub clock: Clock,
}

/// The record of this process's calls. Clones are the same.
///
/// Nothing is opened, made or started before the first call.
#[derive(Clone)]
pub struct Audit {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) folder: PathBuf,
    desk: Mutex<Desk>,
    /// Whether arguments are recorded, as the desk's settings say.
    arguments: AtomicBool,
    standing: AtomicU8,
    filling: AtomicBool,
    /// Held by whoever copies lines into the store, with the room to read them to.
    pub(crate) copying: tokio::sync::Mutex<Vec<u8>>,
    /// What is wrong with the store.
    behind: Mutex<Option<String>>,
    /// Records since the task last looked.
    pub(crate) fresh: AtomicU32,
    /// Wakes the task when there is a first record again.
    pub(crate) wake: Notify,
    /// Wakes it early when there are many.
    pub(crate) hurry: Notify,
}

/// How the audit of this process stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditState {
    /// The name of this process's chain.
    pub writer: String,
    /// Its last record.
    pub head: Option<Head>,
    /// Bytes that are not in the store yet.
    pub spooled_bytes: u64,
    /// Records in memory, because they could not be written.
    pub waiting: usize,
    /// Calls that ran unrecorded, and that no record tells of yet.
    pub lost: u64,
    /// What is wrong, if anything.
    pub trouble: Option<String>,
}

/// What is known of the spool without looking.
const NEW: u8 = 0;
const FINE: u8 = 1;
const TROUBLED: u8 = 2;

impl Audit {
    /// The audit of this process. It touches nothing before the first call.
    pub fn new(parts: Parts, config: AuditConfig) -> Self {
        Self::rotating(parts, config, ROTATE)
    }

    /// The same, whose spool files are of another size: for tests.
    #[doc(hidden)]
    pub fn rotating(parts: Parts, config: AuditConfig, rotate: u64) -> Self {
        let folder = spool_folder(&parts.data_dir);
        let desk = Desk::new(&folder, parts.clock.unix_ms(), rotate, config);
        Self {
            inner: Arc::new(Inner {
                parts,
                folder,
                desk: Mutex::new(desk),
                arguments: AtomicBool::new(config.arguments),
                standing: AtomicU8::new(NEW),
                filling: AtomicBool::new(false),
                copying: tokio::sync::Mutex::default(),
                behind: Mutex::default(),
                fresh: AtomicU32::new(0),
                wake: Notify::new(),
                hurry: Notify::new(),
            }),
        }
    }

    /// Brings other settings into force, for calls from now on.
    pub fn configure(&self, config: AuditConfig) {
        self.inner.desk().config = config;
        self.inner.arguments.store(config.arguments, Ordering::Release);
        // Another bound may hold now.
        self.inner.standing.store(TROUBLED, Ordering::Release);
    }

    /// What is wrong with the spool or with copying it, in words for whoever runs this; none if all is well.
    pub fn trouble(&self) -> Option<String> {
        let desk = self.inner.desk().trouble.clone();
        desk.or_else(|| self.inner.behind().clone())
    }

    /// How the audit of this process stands.
    pub fn state(&self) -> AuditState {
        let trouble = self.trouble();
        let desk = self.inner.desk();
        AuditState {
            writer: desk.writer().to_owned(),
            head: desk.head(),
            spooled_bytes: desk.spool.size(),
            waiting: desk.waiting(),
            lost: desk.lost().calls,
            trouble,
        }
    }

    /// All records of all processes on this store and data folder, to be searched and verified.
    pub fn archive(&self) -> Archive {
        Archive::new(self.inner.parts.store.clone(), &self.inner.parts.data_dir)
    }

    /// Copies all that waits into the store now.
    ///
    /// # Errors
    /// The store does not answer, or a spool file cannot be read.
    pub async fn flush(&self) -> std::result::Result<(), crate::AuditError> {
        filler::copy(&self.inner).await
    }
}

impl Recorder for Audit {
    fn ready(&self) -> Result<()> {
        let inner = &self.inner;
        if inner.standing.load(Ordering::Acquire) == FINE {
            return Ok(());
        }
        let config = inner.config();
        match inner.prepare() {
            None => Ok(()),
            Some(_) if config.on_full == OnFull::Run => Ok(()),
            Some(trouble) => Err(Error::new(Kind::Internal, "calls cannot be recorded, so none is run")
                .hint(
                    "make room in the data folder, or set `audit.on_full = \"run\"` to run calls unrecorded",
                )
                .because(trouble)),
        }
    }

    fn wants_arguments(&self) -> bool {
        self.inner.arguments.load(Ordering::Acquire)
    }

    fn record(&self, entry: &Entry<'_>) {
        let inner = &self.inner;
        // All that can be done before is: others wait for the desk.
        line::said(entry, |said| {
            let mut desk = inner.desk();
            desk.call(entry, said);
            inner.stands(&desk);
        });
        inner.tell();
    }
}

impl Inner {
    pub(crate) fn config(&self) -> AuditConfig {
        self.desk().config
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn behind(&self) -> MutexGuard<'_, Option<String>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes ready to record, writes what waits, and tells what is wrong.
    pub(crate) fn prepare(&self) -> Option<String> {
        let mut desk = self.desk();
        desk.prepare(self.parts.clock.unix_ms());
        self.stands(&desk);
        desk.trouble.clone()
    }

    /// Tries again what failed before, if anything did, and tells what is wrong still.
    pub(crate) fn retry(&self) -> Option<String> {
        let troubled = self.desk().trouble.is_some();
        troubled.then(|| self.prepare()).flatten()
    }

    fn stands(&self, desk: &Desk) {
        let standing = if desk.trouble.is_none() { FINE } else { TROUBLED };
        self.standing.store(standing, Ordering::Release);
    }

    /// Lets the task know of a record; the first one starts it.
    fn tell(self: &Arc<Self>) {
        match self.fresh.fetch_add(1, Ordering::AcqRel) + 1 {
            1 => self.wake.notify_one(),
            MANY => self.hurry.notify_one(),
            _ => {}
        }
        if !self.filling.load(Ordering::Relaxed) && !self.filling.swap(true, Ordering::AcqRel) {
            filler::start(self);
        }
    }
}

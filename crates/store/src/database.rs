//! A store that connects when it is first used.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::AnyPool;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit, broadcast};
use toolgate_core::{
    AuditBatch, AuditLine, AuditQuery, AuditRow, Collection, Document, Store, StoreError, Stored, Write,
    Written,
};
use toolgate_host::{Clock, Tasks};

use crate::changes::News;
use crate::place::Place;
use crate::{audit, changes, connect, documents, failure, sweep};

/// How much longer than for a connection or a lock an answer as a whole is waited for.
const WHOLE: u32 = 4;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// By which documents expire.
    pub clock: Clock,
    /// How long a connection, or a lock that another process holds, is waited for.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Clock::system(), patience: Duration::from_secs(5) }
    }
}

/// A store in a database. It connects when it is first used, and again whenever the connection was lost.
#[derive(Debug)]
pub struct Database {
    place: Place,
    tasks: Tasks,
    options: Options,
    pool: OnceCell<AnyPool>,
    // SQLite has one writer at a time: ours wait for each other here, in order, and not at the lock of the file.
    writers: Semaphore,
    pub(crate) news: News,
    me: Weak<Self>,
}

/// A store at a place. Nothing is read or made until it is used.
pub fn open(place: Place, tasks: &Tasks, options: Options) -> Arc<Database> {
    let writers = if place.is_server() { connect::MAX_CONNECTIONS } else { 1 };
    Arc::new_cyclic(|me| Database {
        place,
        tasks: tasks.clone(),
        options,
        pool: OnceCell::new(),
        writers: Semaphore::new(writers as usize),
        news: News::default(),
        me: me.clone(),
    })
}

impl Database {
    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether there is anything to read. A file is made by the first write.
    pub fn exists(&self) -> bool {
        self.place.exists()
    }

    /// Connects, and makes or updates the tables, for who wants to know early whether that works.
    ///
    /// # Errors
    /// It does not work, or a newer version made the tables.
    pub async fn connect(&self) -> Result<(), StoreError> {
        self.pool().await.map(drop)
    }

    /// Removes documents that have expired, and tells how many. It also happens by itself, now and then.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        sweep::sweep(self).await
    }

    /// Lets go of the database. A later use connects no more.
    pub async fn close(&self) {
        if let Some(pool) = self.pool.get() {
            pool.close().await;
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        to_i64(self.options.clock.unix_ms())
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    pub(crate) fn patience(&self) -> Duration {
        self.options.patience
    }

    /// Itself, for tasks that must not keep it alive.
    pub(crate) fn weak(&self) -> Weak<Self> {
        self.me.clone()
    }

    /// Connections; the file and the tables are made where they are missing.
    pub(crate) async fn pool(&self) -> Result<&AnyPool, StoreError> {
        self.pool.get_or_try_init(|| connect::open(self)).await
    }

    /// Connections, if there is anything to read.
    pub(crate) async fn readable(&self) -> Result<Option<&AnyPool>, StoreError> {
        if self.pool.get().is_none() && !self.exists() {
            return Ok(None);
        }
        self.pool().await.map(Some)
    }

    /// The right to write.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        self.writers.acquire().await.map_err(|error| StoreError::new("the store was closed").because(error))
    }

    /// How a transaction that writes begins. Without `IMMEDIATE` a SQLite one could not wait for its turn.
    pub(crate) fn begin(&self) -> &'static str {
        if self.place.is_server() { "BEGIN" } else { "BEGIN IMMEDIATE" }
    }

    /// An answer, or an error if none comes: a server may be gone without a word.
    fn in_time<'a, T: 'a>(
        &'a self,
        answer: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> Stored<'a, T> {
        let limit = self.patience() * WHOLE;
        Box::pin(async move {
            match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => Err(failure::too_late(&self.place, limit)),
            }
        })
    }
}

impl Store for Database {
    fn get<'a>(&'a self, collection: Collection, id: &'a str) -> Stored<'a, Option<Document>> {
        self.in_time(documents::get(self, collection, id))
    }

    fn list(&self, collection: Collection) -> Stored<'_, Vec<Document>> {
        self.in_time(documents::list(self, collection))
    }

    fn write(&self, writes: Vec<Write>) -> Stored<'_, Written> {
        self.in_time(documents::write(self, writes))
    }

    fn changes(&self) -> broadcast::Receiver<Collection> {
        changes::listen(self)
    }

    fn append_audit(&self, rows: Vec<AuditRow>) -> Stored<'_, ()> {
        self.in_time(async move {
            let lines = rows.iter().map(AuditRow::borrowed).collect();
            audit::append(self, lines).await
        })
    }

    fn append_audit_lines<'a>(&'a self, lines: Vec<AuditLine<'a>>) -> Stored<'a, ()> {
        self.in_time(audit::append(self, lines))
    }

    fn append_audit_batches<'a>(&'a self, batches: Vec<AuditBatch<'a>>) -> Stored<'a, ()> {
        self.in_time(audit::append_batches(self, batches))
    }

    fn find_audit<'a>(&'a self, query: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>> {
        self.in_time(audit::find(self, query))
    }

    fn audit_heads(&self) -> Stored<'_, Vec<AuditRow>> {
        self.in_time(audit::heads(self))
    }

    // Years of records take their time; each step of it is bounded by the database.
    fn prune_audit(&self, before_ms: u64) -> Stored<'_, u64> {
        Box::pin(audit::prune(self, before_ms))
    }
}

/// A number as the database keeps it. No time, and no count, comes near the end of it.
pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as we use it; the database holds none below 0.
pub(crate) fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

//! What outlives a process: small documents in collections, and the record of calls.

mod audit;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::broadcast;

pub use audit::{AuditBatch, AuditLine, AuditQuery, AuditRow};

/// A part of the store: documents of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Collection {
    /// Tokens that stand for principals.
    Tokens,
    /// Secrets, encrypted.
    Secrets,
    /// Questions to a person, and what became of them.
    Approvals,
    /// Answers that hold for more than one call.
    Remembered,
    /// Definitions of tools as they were first seen or last accepted.
    Pins,
    /// What other servers said they have, so that they need not be started to be listed.
    Definitions,
    /// Other servers that were switched on or off without a trace in the configuration.
    Switches,
    /// What we were granted when someone signed in to other servers, encrypted.
    Grants,
    /// Answers that were too long for their clients, whole.
    Results,
    /// What an administrator said of scripts.
    Scripts,
    /// People who may use the admin page.
    Accounts,
    /// Their logins, each under the hash of its cookie.
    Logins,
    /// Links by which someone comes to have an account, each good for one use.
    Links,
    /// Marks that are state, not configuration.
    State,
}

impl Collection {
    /// Every collection.
    pub const ALL: [Self; 14] = [
        Self::Tokens,
        Self::Secrets,
        Self::Approvals,
        Self::Remembered,
        Self::Pins,
        Self::Definitions,
        Self::Switches,
        Self::Grants,
        Self::Results,
        Self::Scripts,
        Self::Accounts,
        Self::Logins,
        Self::Links,
        Self::State,
    ];

    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Secrets => "secrets",
            Self::Approvals => "approvals",
            Self::Remembered => "remembered",
            Self::Pins => "pins",
            Self::Definitions => "definitions",
            Self::Switches => "switches",
            Self::Grants => "grants",
            Self::Results => "results",
            Self::Scripts => "scripts",
            Self::Accounts => "accounts",
            Self::Logins => "logins",
            Self::Links => "links",
            Self::State => "state",
        }
    }
}

/// A document of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id, unique in its collection.
    pub id: String,
    /// Counts its changes, from 1.
    pub revision: i64,
    /// What it says: text that its owner reads, mostly JSON.
    pub body: String,
    /// When it is of no use any more, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
}

/// One change of the store.
#[derive(Debug, Clone)]
pub enum Write {
    /// Puts a document where none is.
    Insert {
        /// Where.
        collection: Collection,
        /// Its id.
        id: String,
        /// What it says.
        body: String,
        /// When it may go.
        expires_ms: Option<u64>,
    },
    /// Replaces a document, if it is still the one that was read.
    Replace {
        /// Where.
        collection: Collection,
        /// Its id.
        id: String,
        /// The revision that was read.
        revision: i64,
        /// What it says from now on.
        body: String,
        /// When it may go.
        expires_ms: Option<u64>,
    },
    /// Removes a document, if it is still the one that was read.
    Remove {
        /// Where.
        collection: Collection,
        /// Its id.
        id: String,
        /// The revision that was read.
        revision: i64,
    },
}

impl Write {
    /// The collection it changes.
    pub fn collection(&self) -> Collection {
        match self {
            Self::Insert { collection, .. }
            | Self::Replace { collection, .. }
            | Self::Remove { collection, .. } => *collection,
        }
    }
}

/// Whether a set of changes was made: all of them, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// All were made, and will outlast a crash.
    Done,
    /// Someone else was faster with one of the documents; nothing was changed.
    Conflict,
}

/// What went wrong with the store; the words are for whoever runs it.
#[derive(Debug)]
pub struct StoreError {
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error with what happened in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, source: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What to do next.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<StoreError> for crate::Error {
    fn from(error: StoreError) -> Self {
        Self::new(crate::Kind::Internal, "the store did not answer")
            .hint("`toolgate doctor` tells what is wrong with it")
            .because(error)
    }
}

/// What the store answers with, later.
pub type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// What outlives a process. What it has acknowledged is there after a crash.
pub trait Store: Send + Sync {
    /// A document that has not expired.
    fn get<'a>(&'a self, collection: Collection, id: &'a str) -> Stored<'a, Option<Document>>;

    /// All documents of a collection that have not expired, by id.
    fn list(&self, collection: Collection) -> Stored<'_, Vec<Document>>;

    /// Makes all of these changes, or none. An expired document may be replaced, removed, or inserted anew.
    fn write(&self, writes: Vec<Write>) -> Stored<'_, Written>;

    /// Tells which collections changed, by whomever: this process at once, others soon.
    ///
    /// A change that is made after this call is told at least once, so whoever listens first and reads then misses
    /// nothing. A receiver that lagged behind has to take every collection for changed.
    fn changes(&self) -> broadcast::Receiver<Collection>;

    /// Adds records of the audit; those that are there already are left as they are.
    fn append_audit(&self, rows: Vec<AuditRow>) -> Stored<'_, ()>;

    /// The same, for who has them in one text: a store that packs them need not copy each before.
    fn append_audit_lines<'a>(&'a self, lines: Vec<AuditLine<'a>>) -> Stored<'a, ()> {
        self.append_audit(lines.into_iter().map(AuditLine::into_row).collect())
    }

    /// The same, for who has them in one text and knows what they say: a store that packs them need not read them.
    fn append_audit_batches<'a>(&'a self, batches: Vec<AuditBatch<'a>>) -> Stored<'a, ()> {
        Box::pin(async move { self.append_audit_lines(AuditBatch::lines(&batches)?).await })
    }

    /// Finds records of the audit, newest first.
    fn find_audit<'a>(&'a self, query: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>>;

    /// The last record of each chain.
    ///
    /// It reads every record unless a store knows a shorter way.
    fn audit_heads(&self) -> Stored<'_, Vec<AuditRow>> {
        Box::pin(async move {
            let mut heads: HashMap<String, AuditRow> = HashMap::new();
            let mut query = AuditQuery { limit: 1000, ..AuditQuery::default() };
            loop {
                let rows = self.find_audit(&query).await?;
                let Some(last) = rows.last() else { return Ok(heads.into_values().collect()) };
                query.before = Some((last.time_ms, last.writer.clone(), last.sequence));
                for row in rows {
                    // The clock may have been set back, so the newest need not be the last.
                    if heads.get(&row.writer).is_none_or(|head| head.sequence < row.sequence) {
                        heads.insert(row.writer.clone(), row);
                    }
                }
            }
        })
    }

    /// Removes the records before a moment and tells how many; each chain keeps its last.
    fn prune_audit(&self, before_ms: u64) -> Stored<'_, u64>;
}

/// A store that all parts share.
pub type SharedStore = Arc<dyn Store>;

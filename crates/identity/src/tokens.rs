//! Tokens that we made: kept as hashes, checked in memory, taken back at once.

mod entry;
mod follow;
mod record;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use toolgate_core::{
    Collection, Document, Error, Kind, Pass, Refused, Result, SharedStore, StoreError, Write, Written,
};
use toolgate_host::{Clock, Secret};

use crate::name::{PrincipalName, RoleName};
use crate::text::{self, TokenText};
use entry::Entry;
use record::Record;
pub use record::{TokenInfo, TokenState};

/// How long a token is remembered after it ended, so that a person sees what became of it.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often a change is tried again that someone else was faster with.
const TRIES: usize = 5;

/// A token to be made.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// For whom.
    pub principal: PrincipalName,
    /// The roles it brings along.
    pub roles: Vec<RoleName>,
    /// For how long; without it, until it is revoked.
    pub expires_in: Option<Duration>,
    /// What it is for, in a person's words.
    pub note: String,
    /// Who makes it.
    pub created_by: String,
}

/// Tokens that we made. Clones are the same.
#[derive(Clone)]
pub struct Tokens(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: Clock,
    entries: ArcSwap<HashMap<String, Arc<Entry>>>,
    /// Counts readings of the store, so that an older one never replaces a newer.
    readings: AtomicU64,
    newest: Mutex<u64>,
    ended: watch::Sender<u64>,
}

impl Tokens {
    /// The tokens of a store. None of them is known before [`Tokens::load`].
    pub fn new(store: SharedStore, clock: Clock) -> Self {
        Self(Arc::new(Inner {
            store,
            clock,
            entries: ArcSwap::default(),
            readings: AtomicU64::new(0),
            newest: Mutex::default(),
            ended: watch::Sender::default(),
        }))
    }

    /// Makes a token. The text is shown to whoever asked for it, and kept nowhere.
    ///
    /// # Errors
    /// The store, or the source of randomness, fails.
    pub async fn create(&self, new: NewToken) -> Result<(Secret, TokenInfo)> {
        let now_ms = self.0.clock.unix_ms();
        for _ in 0..TRIES {
            let (id, hash, secret) = text::create()?;
            let record = Record::new(&new, hash, now_ms);
            let write = Write::Insert {
                collection: Collection::Tokens,
                id: id.clone(),
                body: record.to_body(),
                expires_ms: record.forget_ms(),
            };
            if self.0.store.write(vec![write]).await? == Written::Done {
                self.load().await?;
                return Ok((secret, record.info(&id, None, now_ms)));
            }
        }
        Err(busy())
    }

    /// All tokens, those that ended lately included, newest first.
    ///
    /// # Errors
    /// The store fails.
    pub async fn list(&self) -> Result<Vec<TokenInfo>> {
        let now_ms = self.0.clock.unix_ms();
        let used = self.used().await?;
        let mut all: Vec<TokenInfo> = Vec::new();
        for document in self.0.store.list(Collection::Tokens).await? {
            let record = Record::read(&document)?;
            all.push(record.info(&document.id, used.get(&document.id).copied(), now_ms));
        }
        all.sort_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
        Ok(all)
    }

    /// Takes a token back: from now on it is refused, and what was begun with it ends.
    ///
    /// # Errors
    /// There is no such token, or the store fails.
    pub async fn revoke(&self, id: &str) -> Result<TokenInfo> {
        // Whoever has the whole token at hand may name it by that.
        let id = TokenText::read(id).map_or(id, |text| text.id);
        let now_ms = self.0.clock.unix_ms();
        for _ in 0..TRIES {
            let Some(document) = self.0.store.get(Collection::Tokens, id).await? else {
                return Err(Error::new(Kind::NotFound, format!("there is no token `{id}`"))
                    .hint("`toolgate token list` shows all of them"));
            };
            let mut record = Record::read(&document)?;
            record.revoked_ms = record.revoked_ms.or(Some(now_ms));
            let write = Write::Replace {
                collection: Collection::Tokens,
                id: id.to_owned(),
                revision: document.revision,
                body: record.to_body(),
                expires_ms: record.forget_ms(),
            };
            if self.0.store.write(vec![write]).await? == Written::Done {
                self.load().await?;
                let used = self.used().await?;
                return Ok(record.info(id, used.get(id).copied(), now_ms));
            }
        }
        Err(busy())
    }

    /// Reads all tokens from the store; what is not there any more ends.
    ///
    /// # Errors
    /// The store fails; then all stays as it was.
    pub async fn load(&self) -> Result<(), StoreError> {
        let number = self.0.readings.fetch_add(1, Ordering::AcqRel) + 1;
        let documents = self.0.store.list(Collection::Tokens).await?;
        let mut newest = self.newest();
        if number < *newest {
            return Ok(());
        }
        *newest = number;
        let old = self.0.entries.load_full();
        let mut new = HashMap::with_capacity(documents.len());
        for document in &documents {
            let entry = self.entry(document, old.get(&document.id));
            new.extend(entry.map(|entry| (document.id.clone(), entry)));
        }
        let is_kept =
            |(id, old): &(&String, &Arc<Entry>)| new.get(*id).is_some_and(|new| Arc::ptr_eq(new, old));
        let gone: Vec<Arc<Entry>> =
            old.iter().filter(|entry| !is_kept(entry)).map(|(_, entry)| entry.clone()).collect();
        self.0.entries.store(Arc::new(new));
        drop(newest);
        if !gone.is_empty() {
            gone.iter().for_each(|entry| entry.pass.end());
            self.0.ended.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// A token as it is checked; the same as before where nothing changed.
    fn entry(&self, document: &Document, old: Option<&Arc<Entry>>) -> Option<Arc<Entry>> {
        if let Some(same) = old.filter(|old| old.revision == document.revision) {
            return Some(same.clone());
        }
        match Record::read(document) {
            Ok(record) => Some(Arc::new(Entry::new(&record, document.revision, &self.0.clock).after(old))),
            Err(error) => {
                tracing::warn!(id = document.id, %error, "a token is refused, because it cannot be read");
                None
            }
        }
    }

    /// Who brings this token.
    pub(crate) fn check(&self, text: &TokenText<'_>) -> Result<Pass, Refused> {
        let entries = self.0.entries.load();
        let entry = entries.get(text.id);
        // One that does not exist is compared all the same, so that the time it takes does not tell.
        let expected = entry.map_or(&[0; 32], |entry| &entry.hash);
        let right = bool::from(text.digest().ct_eq(expected));
        let Some(entry) = entry.filter(|_| right) else { return Err(Refused::Unknown) };
        if entry.revoked {
            return Err(Refused::Revoked);
        }
        if entry.pass.is_over() {
            return Err(Refused::Expired);
        }
        entry.use_at(self.0.clock.unix_ms());
        Ok(entry.pass.clone())
    }

    /// Whether anyone could come in with one of them.
    pub(crate) fn any(&self) -> bool {
        self.0.entries.load().values().any(|entry| !entry.revoked && !entry.pass.is_over())
    }

    /// Told whenever tokens have ended.
    pub(crate) fn ended(&self) -> watch::Sender<u64> {
        self.0.ended.clone()
    }

    fn newest(&self) -> MutexGuard<'_, u64> {
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy() -> Error {
    Error::new(Kind::Internal, "the store is changed by others all the time").hint("try again")
}

//! Keeps up with the store: what others change, and when tokens were used.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use toolgate_core::{Collection, StoreError, Write, Written};
use toolgate_host::Tasks;

use super::Tokens;

/// How often the store is told when tokens were used.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// When a store that failed is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// How the ids of documents begin that say when a token was used last.
const USED: &str = "token-used/";

impl Tokens {
    /// Keeps up with what anyone changes in the store, and tells it when tokens were used.
    pub(crate) fn follow(&self, tasks: &Tasks) {
        let (this, changes, stopping) = (self.clone(), self.0.store.changes(), tasks.stopping());
        tasks.spawn(async move {
            tokio::select! {
                () = this.keep_up(changes) => {}
                () = this.keep_telling() => {}
                () = stopping.cancelled() => {}
            }
            this.tell().await;
        });
    }

    async fn keep_up(&self, mut changes: broadcast::Receiver<Collection>) {
        loop {
            match changes.recv().await {
                Ok(Collection::Tokens) | Err(RecvError::Lagged(_)) => {}
                Ok(_) => continue,
                Err(RecvError::Closed) => return std::future::pending().await,
            }
            while let Err(error) = self.load().await {
                tracing::warn!(%error, "tokens could not be read again; what was revoked elsewhere is not known yet");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }

    async fn keep_telling(&self) {
        loop {
            tokio::time::sleep(TELL_EVERY).await;
            self.tell().await;
        }
    }

    /// Tells the store when tokens were used. Best effort: nothing depends on it.
    async fn tell(&self) {
        if let Err(error) = self.try_to_tell().await {
            tracing::debug!(%error, "the store was not told when tokens were used");
        }
    }

    async fn try_to_tell(&self) -> Result<(), StoreError> {
        let entries = self.0.entries.load_full();
        let news: Vec<_> =
            entries.iter().filter_map(|(id, entry)| Some((id, entry, entry.news()?))).collect();
        let mut writes = Vec::with_capacity(news.len());
        for (id, _, used_ms) in &news {
            let (collection, id, body) = (Collection::State, format!("{USED}{id}"), used_ms.to_string());
            // Whoever forgets the token forgets this with it, at the latest a year after the last use.
            let expires_ms = Some(used_ms.saturating_add(365 * 24 * 3_600_000));
            writes.push(match self.0.store.get(collection, &id).await? {
                None => Write::Insert { collection, id, body, expires_ms },
                Some(old) => Write::Replace { collection, id, revision: old.revision, body, expires_ms },
            });
        }
        if !writes.is_empty() && self.0.store.write(writes).await? == Written::Done {
            news.iter().for_each(|(_, entry, used_ms)| entry.told(*used_ms));
        }
        Ok(())
    }

    /// When tokens were used last, by id: what the store was told, and what this process knows.
    pub(super) async fn used(&self) -> Result<HashMap<String, u64>, StoreError> {
        let mut used = HashMap::new();
        for document in self.0.store.list(Collection::State).await? {
            let Some(id) = document.id.strip_prefix(USED) else { continue };
            used.extend(document.body.parse::<u64>().ok().map(|used_ms| (id.to_owned(), used_ms)));
        }
        for (id, entry) in self.0.entries.load().iter() {
            let told = used.get(id).copied();
            used.extend(entry.used_ms().max(told).map(|used_ms| (id.clone(), used_ms)));
        }
        Ok(used)
    }
}

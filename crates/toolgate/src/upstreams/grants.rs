//! What lets us in to other servers: kept encrypted in the store, and hidden in whatever goes out.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use toolgate_core::{Collection, Store as _, Write, Written};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_secrets::SecretError;
use toolgate_upstream::{Authorizer, Holder, Keeping, LoggedOut, TokenStore};

use crate::parts::Parts;

/// How long a turn lasts at most, in milliseconds: longer than a renewal takes.
const TURN_MS: u64 = 30_000;

/// How many grants are given back at once.
const AT_ONCE: usize = 8;

/// How many digests are remembered; a text that is forgotten is hidden once more.
const MOST_HIDDEN: usize = 1_000;

/// What lets us in to other servers.
pub(crate) struct Grants {
    parts: Parts,
    changes: watch::Receiver<u64>,
    /// Digests of what is hidden already.
    hidden: Mutex<HashSet<u64>>,
}

impl Grants {
    /// The grants of a store; from now on it hears of their changes, by whomever.
    pub(crate) fn new(parts: &Parts, tasks: &Tasks) -> Arc<Self> {
        let (told, changes) = watch::channel(0);
        let mut heard = parts.database.changes();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            loop {
                match heard.recv().await {
                    Ok(Collection::Grants) | Err(RecvError::Lagged(_)) => {
                        told.send_modify(|count| *count += 1)
                    }
                    Ok(_) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        }));
        Arc::new(Self { parts: parts.clone(), changes, hidden: Mutex::default() })
    }

    /// Hides a text before it is used, whoever it comes from.
    async fn hide(&self, text: &Secret) -> Result<(), String> {
        let mut digest = DefaultHasher::new();
        text.expose().hash(&mut digest);
        let digest = digest.finish();
        if self.hidden().contains(&digest) {
            return Ok(());
        }
        self.parts.hide_grants().await.map_err(|error| format!("{error:#}"))?;
        let mut hidden = self.hidden();
        if hidden.len() >= MOST_HIDDEN {
            hidden.clear();
        }
        hidden.insert(digest);
        Ok(())
    }

    fn hidden(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back what lets anyone in to a server, where that can be done by someone, and forgets it. Says whose it was
    /// and what became of it.
    pub(crate) async fn forget(
        &self,
        server: &str,
        by: Option<&Authorizer>,
    ) -> Result<Vec<(Holder, LoggedOut)>, SecretError> {
        if !self.parts.database.exists() {
            return Ok(Vec::new());
        }
        let kept = self.parts.database.list(Collection::Grants).await?;
        let holders: Vec<Holder> =
            kept.iter().filter_map(|grant| Holder::of_key(&grant.id, server)).collect();
        let forgetting = stream::iter(holders).map(|holder| async move {
            let out = match by {
                Some(authorizer) => given_back(authorizer, holder.clone()).await,
                None => LoggedOut { was_in: false, revoked: None },
            };
            self.parts.secrets.remove_text(Collection::Grants, &holder.key(server)).await?;
            Ok((holder, out))
        });
        forgetting.buffered(AT_ONCE).try_collect().await
    }

    async fn take(&self, key: &str, mark: &str) -> Result<bool, toolgate_core::StoreError> {
        let (collection, id) = (Collection::State, turn(key));
        let expires_ms = Some(Clock::system().unix_ms() + TURN_MS);
        let write = Write::Insert { collection, id, body: mark.to_owned(), expires_ms };
        Ok(self.parts.database.write(vec![write]).await? == Written::Done)
    }

    async fn end(&self, key: &str, mark: &str) -> Result<(), toolgate_core::StoreError> {
        let (collection, id) = (Collection::State, turn(key));
        let taken = self.parts.database.get(collection, &id).await?;
        // Another that has taken it meanwhile keeps it.
        if let Some(own) = taken.filter(|taken| taken.body == mark) {
            let write = Write::Remove { collection, id, revision: own.revision };
            let (Written::Done | Written::Conflict) = self.parts.database.write(vec![write]).await?;
        }
        Ok(())
    }
}

/// Who cannot be asked takes nothing back.
async fn given_back(authorizer: &Authorizer, holder: Holder) -> LoggedOut {
    authorizer.logout(holder).await.unwrap_or_else(|error| {
        tracing::warn!("a grant could not be given back: {error}");
        LoggedOut { was_in: true, revoked: Some(false) }
    })
}

/// The document that stands for the turn to renew a grant.
fn turn(key: &str) -> String {
    format!("renewing:{key}")
}

impl TokenStore for Grants {
    fn load<'a>(&'a self, key: &'a str) -> Keeping<'a, Option<Secret>> {
        Box::pin(async move {
            if !self.parts.database.exists() {
                return Ok(None);
            }
            let text = match self.parts.secrets.text(Collection::Grants, key).await {
                // What cannot be opened any more lets nobody in; signing in replaces it.
                Err(error @ (SecretError::WrongKey { .. } | SecretError::MissingKey { .. })) => {
                    tracing::warn!("what lets us in to `{key}` is lost: {error}");
                    None
                }
                read => read.map_err(|error| error.to_string())?,
            };
            if let Some(text) = &text {
                self.hide(text).await?;
            }
            Ok(text)
        })
    }

    fn save<'a>(&'a self, key: &'a str, text: Secret) -> Keeping<'a, ()> {
        Box::pin(async move {
            let kept = self.parts.secrets.keep_text(Collection::Grants, key, &text).await;
            kept.map_err(|error| error.to_string())?;
            self.hide(&text).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> Keeping<'a, ()> {
        Box::pin(async move {
            if !self.parts.database.exists() {
                return Ok(());
            }
            let removed = self.parts.secrets.remove_text(Collection::Grants, key).await;
            removed.map(drop).map_err(|error| error.to_string())
        })
    }

    fn take_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, bool> {
        Box::pin(async move { self.take(key, mark).await.map_err(|error| error.to_string()) })
    }

    fn end_turn<'a>(&'a self, key: &'a str, mark: &'a str) -> Keeping<'a, ()> {
        Box::pin(async move { self.end(key, mark).await.map_err(|error| error.to_string()) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

#[cfg(test)]
mod tests {
    use toolgate_secrets::Redactor;

    use super::*;
    use crate::settings::Settings;

    #[tokio::test]
    async fn only_who_has_a_turn_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { data_dir: folder.path().to_owned(), ..Settings::default() };
        let tasks = Tasks::new();
        let grants = Grants::new(&Parts::new(&settings, Redactor::new(), &tasks).unwrap(), &tasks);
        assert!(grants.take_turn("cave", "first").await.unwrap());
        assert!(!grants.take_turn("cave", "second").await.unwrap());
        grants.end_turn("cave", "second").await.unwrap();
        assert!(!grants.take_turn("cave", "second").await.unwrap(), "another ended it");
        grants.end_turn("cave", "first").await.unwrap();
        assert!(grants.take_turn("cave", "second").await.unwrap());
    }
}

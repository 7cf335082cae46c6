//! The secrets of a store: set, removed, listed without their values, and loaded for use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use toolgate_core::{Collection, Document, SharedStore, Write, Written};
use toolgate_host::{Clock, Secret};

use crate::key::{Key, KeySource};
use crate::name::SecretName;
use crate::sealed::{Label, Sealed, Times};
use crate::{SecretError, value};

/// So often a change is tried again when someone else was faster.
pub(crate) const TRIES: usize = 16;

/// The secrets of a store. Clones are the same.
#[derive(Clone)]
pub struct Secrets {
    pub(crate) store: SharedStore,
    key: KeySource,
    pub(crate) clock: Clock,
}

/// What may be known of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretInfo {
    /// Its name.
    pub name: String,
    /// When it was first stored, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it was last stored, in milliseconds since 1970.
    pub updated_ms: u64,
}

/// All secrets at one moment. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Snapshot(Arc<BTreeMap<SecretName, Secret>>);

impl Secrets {
    /// The secrets that this store keeps under this key.
    pub fn new(store: SharedStore, key: KeySource, clock: Clock) -> Self {
        Self { store, key, clock }
    }

    /// Stores a secret; one of the same name is replaced.
    ///
    /// # Errors
    /// The value cannot be a secret, the key cannot be used, or the store failed.
    pub async fn set(&self, name: &SecretName, secret: &Secret) -> Result<(), SecretError> {
        value::check(name, secret)?;
        let key = self.key_for(name).await?;
        for _ in 0..TRIES {
            let there = self.store.get(Collection::Secrets, name.as_str()).await?;
            let write = self.write(&key, name, secret, there.as_ref())?;
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(());
            }
        }
        Err(SecretError::Busy { name: name.to_string() })
    }

    /// Removes a secret; `false` if there was none. It needs no key.
    ///
    /// # Errors
    /// The store failed.
    pub async fn remove(&self, name: &SecretName) -> Result<bool, SecretError> {
        for _ in 0..TRIES {
            let Some(there) = self.store.get(Collection::Secrets, name.as_str()).await? else {
                return Ok(false);
            };
            let (collection, id) = (Collection::Secrets, there.id);
            let write = Write::Remove { collection, id, revision: there.revision };
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(true);
            }
        }
        Err(SecretError::Busy { name: name.to_string() })
    }

    /// What is stored, by name, without values. It needs no key.
    ///
    /// # Errors
    /// The store failed, or a later version wrote to it.
    pub async fn list(&self) -> Result<Vec<SecretInfo>, SecretError> {
        let documents = self.store.list(Collection::Secrets).await?;
        let info = |document: &Document| {
            let Sealed { created_ms, updated_ms, .. } = Sealed::read(document)?;
            Ok(SecretInfo { name: document.id.clone(), created_ms, updated_ms })
        };
        documents.iter().map(info).collect()
    }

    /// All secrets with their values.
    ///
    /// # Errors
    /// The store failed, or the key is missing or wrong for one of them.
    pub async fn load(&self) -> Result<Snapshot, SecretError> {
        let documents = self.store.list(Collection::Secrets).await?;
        let Some(first) = documents.first() else { return Ok(Snapshot::default()) };
        let key = self.blocking(|key| key.read()).await?.ok_or_else(|| self.missing_key(&first.id))?;
        let open = |document: &Document| {
            let secret = Sealed::read(document)?.open(&key, Label::secret(&document.id))?;
            Ok((document.id.parse()?, secret))
        };
        documents.iter().map(open).collect::<Result<_, _>>().map(|map| Snapshot(Arc::new(map)))
    }

    /// The key to store a secret with. A new one is made only if there is no other secret, whose key would then be
    /// thought to be this one.
    async fn key_for(&self, name: &SecretName) -> Result<Key, SecretError> {
        if let Some(key) = self.blocking(|key| key.read()).await? {
            return Ok(key);
        }
        self.first_key(Collection::Secrets, name.as_str()).await
    }

    /// The key to store the first text with; no other may be there.
    pub(crate) async fn first_key(&self, collection: Collection, id: &str) -> Result<Key, SecretError> {
        for sealed in [Collection::Secrets, Collection::Grants] {
            let others = self.store.list(sealed).await?;
            if let Some(other) = others.iter().find(|other| sealed != collection || other.id != id) {
                return Err(self.missing_key(&other.id));
            }
        }
        self.blocking(|key| key.read_or_make()).await
    }

    fn write(
        &self,
        key: &Key,
        name: &SecretName,
        secret: &Secret,
        there: Option<&Document>,
    ) -> Result<Write, SecretError> {
        let (collection, id, expires_ms) = (Collection::Secrets, name.to_string(), None);
        let updated_ms = self.clock.unix_ms();
        // What cannot be read any more may be replaced all the same.
        let before = there.and_then(|document| Sealed::read(document).ok());
        let times = Times { created_ms: before.map_or(updated_ms, |before| before.created_ms), updated_ms };
        let body =
            serde_json::json!(Sealed::seal(key, Label::secret(name.as_str()), secret, times)?).to_string();
        Ok(match there {
            None => Write::Insert { collection, id, body, expires_ms },
            Some(there) => Write::Replace { collection, id, revision: there.revision, body, expires_ms },
        })
    }

    pub(crate) fn missing_key(&self, name: &str) -> SecretError {
        let path = match &self.key {
            KeySource::File(path) => path.clone(),
            KeySource::Given(_) => PathBuf::new(),
        };
        SecretError::MissingKey { name: name.to_owned(), path }
    }

    /// The key, if there is one.
    pub(crate) async fn key(&self) -> Result<Option<Key>, SecretError> {
        self.blocking(|key| key.read()).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KeySource) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        let key = self.key.clone();
        tokio::task::spawn_blocking(move || work(&key)).await.unwrap_or_else(|error| {
            let source = std::io::Error::other(error.to_string());
            Err(SecretError::KeyFile { path: PathBuf::new(), source })
        })
    }
}

impl Snapshot {
    /// The secret of a name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&SecretName, &Secret)> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(SecretName, Secret)> for Snapshot {
    fn from_iter<T: IntoIterator<Item = (SecretName, Secret)>>(secrets: T) -> Self {
        Self(Arc::new(secrets.into_iter().collect()))
    }
}

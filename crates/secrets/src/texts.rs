//! Other texts that are kept encrypted: under the key of the secrets, but nothing in the configuration can name them.

use toolgate_core::{Collection, Document, Write, Written};
use toolgate_host::Secret;

use crate::sealed::{Label, Sealed, Times};
use crate::secrets::TRIES;
use crate::{SecretError, Secrets};

impl Secrets {
    /// Keeps a text encrypted; one of the same id is replaced.
    ///
    /// # Errors
    /// The key cannot be used, or the store failed.
    pub async fn keep_text(
        &self,
        collection: Collection,
        id: &str,
        text: &Secret,
    ) -> Result<(), SecretError> {
        let key = match self.key().await? {
            Some(key) => key,
            None => self.first_key(collection, id).await?,
        };
        for _ in 0..TRIES {
            let there = self.store.get(collection, id).await?;
            let now = self.clock.unix_ms();
            let before = there.as_ref().and_then(|document| Sealed::read(document).ok());
            let times = Times { created_ms: before.map_or(now, |before| before.created_ms), updated_ms: now };
            let sealed = Sealed::seal(&key, label(collection, id), text, times)?;
            let (body, expires_ms) = (serde_json::json!(sealed).to_string(), None);
            let write = match there {
                None => Write::Insert { collection, id: id.to_owned(), body, expires_ms },
                Some(Document { id, revision, .. }) => {
                    Write::Replace { collection, id, revision, body, expires_ms }
                }
            };
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(());
            }
        }
        Err(SecretError::Busy { name: id.to_owned() })
    }

    /// A text that is kept, opened.
    ///
    /// # Errors
    /// The store failed, or the key is missing or wrong.
    pub async fn text(&self, collection: Collection, id: &str) -> Result<Option<Secret>, SecretError> {
        let Some(document) = self.store.get(collection, id).await? else { return Ok(None) };
        let key = self.key().await?.ok_or_else(|| self.missing_key(id))?;
        Sealed::read(&document)?.open(&key, label(collection, id)).map(Some)
    }

    /// All texts of a collection that can be opened.
    ///
    /// # Errors
    /// The store failed, or the key cannot be read.
    pub async fn texts(&self, collection: Collection) -> Result<Vec<(String, Secret)>, SecretError> {
        let documents = self.store.list(collection).await?;
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let Some(key) = self.key().await? else { return Ok(Vec::new()) };
        let open = |document: Document| {
            let text = Sealed::read(&document).ok()?.open(&key, label(collection, &document.id)).ok()?;
            Some((document.id, text))
        };
        Ok(documents.into_iter().filter_map(open).collect())
    }

    /// Keeps a text no more; `false` if there was none. It needs no key.
    ///
    /// # Errors
    /// The store failed.
    pub async fn remove_text(&self, collection: Collection, id: &str) -> Result<bool, SecretError> {
        for _ in 0..TRIES {
            let Some(there) = self.store.get(collection, id).await? else { return Ok(false) };
            let write = Write::Remove { collection, id: there.id, revision: there.revision };
            if self.store.write(vec![write]).await? == Written::Done {
                return Ok(true);
            }
        }
        Err(SecretError::Busy { name: id.to_owned() })
    }
}

fn label(collection: Collection, id: &str) -> Label<'_> {
    Label { kind: collection.as_str(), name: id }
}

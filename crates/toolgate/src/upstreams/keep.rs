//! What is remembered of upstreams: what their servers have, and which are switched on or off.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;
use toolgate_core::{Collection, Store as _, StoreError, Write, Written};
use toolgate_host::Tasks;
use toolgate_store::Database;
use toolgate_upstream::Definitions;

/// Which upstreams were switched on or off, by name.
pub(crate) type Switches = HashMap<String, bool>;

/// What is remembered of upstreams. Clones are the same.
#[derive(Clone)]
pub(crate) struct Kept {
    database: Arc<Database>,
}

impl Kept {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    /// What servers had when they were last asked. What cannot be read is learned anew.
    pub(super) async fn definitions(&self) -> HashMap<String, Definitions> {
        let read = |(name, body): (String, String)| Some((name, serde_json::from_str(&body).ok()?));
        self.documents(Collection::Definitions).await.into_iter().filter_map(read).collect()
    }

    /// Which upstreams were switched on or off.
    pub(crate) async fn switches(&self) -> Switches {
        let read = |(name, body): (String, String)| Some((name, body.parse().ok()?));
        self.documents(Collection::Switches).await.into_iter().filter_map(read).collect()
    }

    /// Switches an upstream on or off for every process on this store; `None` leaves that to its table.
    pub(crate) async fn set_switch(&self, name: &str, on: Option<bool>) -> Result<(), StoreError> {
        self.put(Collection::Switches, name, on.map(|on| on.to_string())).await
    }

    /// Forgets what is remembered of an upstream.
    pub(crate) async fn forget(&self, name: &str) -> Result<(), StoreError> {
        if !self.database.exists() {
            return Ok(());
        }
        self.put(Collection::Switches, name, None).await?;
        self.put(Collection::Definitions, name, None).await
    }

    /// Remembers what a server has, whenever that is learned anew.
    pub(super) fn keep(
        &self,
        name: &str,
        mut learned: watch::Receiver<Option<Arc<Definitions>>>,
        tasks: &Tasks,
    ) {
        let (kept, name) = (self.clone(), name.to_owned());
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            while learned.changed().await.is_ok() {
                let Some(definitions) = learned.borrow_and_update().clone() else { continue };
                let Ok(body) = serde_json::to_string(&*definitions) else { continue };
                if let Err(error) = kept.put(Collection::Definitions, &name, Some(body)).await {
                    tracing::warn!(upstream = name, "what it has cannot be remembered: {error}");
                }
            }
        }));
    }

    /// All documents of a collection; what cannot be read is as if it were not there.
    async fn documents(&self, collection: Collection) -> Vec<(String, String)> {
        if !self.database.exists() {
            return Vec::new();
        }
        match self.database.list(collection).await {
            Ok(documents) => documents.into_iter().map(|document| (document.id, document.body)).collect(),
            Err(error) => {
                tracing::warn!("what is remembered of upstreams cannot be read: {error}");
                Vec::new()
            }
        }
    }

    /// Puts a document or takes it away, whoever else does the same.
    async fn put(&self, collection: Collection, id: &str, body: Option<String>) -> Result<(), StoreError> {
        loop {
            let before = self.database.get(collection, id).await?;
            let id = id.to_owned();
            let write = match (before, body.clone()) {
                (Some(before), Some(body)) if before.body == body => return Ok(()),
                (Some(before), Some(body)) => {
                    Write::Replace { collection, id, revision: before.revision, body, expires_ms: None }
                }
                (Some(before), None) => Write::Remove { collection, id, revision: before.revision },
                (None, Some(body)) => Write::Insert { collection, id, body, expires_ms: None },
                (None, None) => return Ok(()),
            };
            match self.database.write(vec![write]).await? {
                Written::Done => return Ok(()),
                Written::Conflict => {}
            }
        }
    }
}

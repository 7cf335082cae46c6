//! Whether a server has agreed to tell of changes.

use std::sync::Arc;

use tokio::sync::Notify;
use toolgate_wire::{Raw, meta};

use super::Desk;

/// The last request to be told of changes, and who learns that the server agrees to it.
pub(super) struct Listened {
    id: u64,
    agreed: Arc<Notify>,
}

impl Desk {
    /// The server is about to be asked to tell of changes, in place of what it was asked before.
    pub(crate) fn listens(&self, id: u64, agreed: Arc<Notify>) {
        self.lock().listened = Some(Listened { id, agreed });
    }

    /// The server agrees to tell of changes. What it says late of an earlier request says nothing of the last; where it
    /// does not say of which, it is taken to mean the last.
    pub(super) fn agrees(&self, params: &Raw, on: Option<u64>) {
        let named = params.path(&[meta::META, meta::SUBSCRIPTION_ID]).and_then(|id| id.as_u64()).or(on);
        if let Some(listened) = &self.lock().listened
            && named.is_none_or(|named| named == listened.id)
        {
            listened.agreed.notify_one();
        }
    }
}

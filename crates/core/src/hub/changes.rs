//! What changes, as one principal may know it.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::ListKind;
use crate::catalog::{Catalog, Change};

/// What changes, as one principal may know it.
pub struct Changes {
    receiver: broadcast::Receiver<Change>,
    catalog: Arc<Catalog>,
    caught_up: VecDeque<Change>,
}

impl Changes {
    pub(super) fn new(receiver: broadcast::Receiver<Change>, catalog: Arc<Catalog>) -> Self {
        Self { receiver, catalog, caught_up: VecDeque::new() }
    }

    /// The next change; `None` when the hub has gone.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            if let Some(change) = self.caught_up.pop_front() {
                return Some(change);
            }
            match self.receiver.recv().await {
                Ok(change) if self.concerns(&change) => return Some(change),
                Ok(_) => {}
                // Too slow to be told everything: anything may have changed.
                Err(RecvError::Lagged(_)) => {
                    let all = ListKind::ALL.map(|kind| Change::Listed(self.catalog.scope().clone(), kind));
                    self.caught_up.extend(all);
                    self.caught_up.push_back(Change::AnyUpdated(None));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn concerns(&self, change: &Change) -> bool {
        match change {
            Change::Listed(scope, _) => scope == self.catalog.scope(),
            Change::Task(task) => task.scope == *self.catalog.scope(),
            Change::Told(notice) => notice.scope == *self.catalog.scope(),
            Change::Updated(_) | Change::AnyUpdated(_) => true,
        }
    }
}

//! Tells who listens which collections changed.
//!
//! No change is missed. What this process writes is told once it is committed. For what others write a task watches the
//! database from the first listener on: it takes its first look *after* that listener subscribed, and then tells every
//! collection, since a change may have come between the two; each later look is compared with the one before. The same
//! is done after a connection was lost. So a change may be told twice, but never not at all. The task ends when nobody
//! listens any more; whether it is there is decided under one lock with subscribing.

mod marks;
mod notices;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use toolgate_core::Collection;

use crate::database::Database;
use crate::place::Kind;

/// How many news a slow listener may be behind before it has to take everything for changed.
const KEPT: usize = 64;

/// News for who listens.
#[derive(Debug)]
pub(crate) struct News {
    sender: broadcast::Sender<Collection>,
    watching: Mutex<bool>,
}

impl Default for News {
    fn default() -> Self {
        Self { sender: broadcast::channel(KEPT).0, watching: Mutex::new(false) }
    }
}

impl News {
    /// Tells that a collection changed. Nobody may be there to hear it.
    pub(crate) fn tell(&self, collection: Collection) {
        drop(self.sender.send(collection));
    }

    fn tell_all(&self) {
        Collection::ALL.into_iter().for_each(|collection| self.tell(collection));
    }

    fn tell_named(&self, name: &str) {
        // A newer version may have collections that we do not know.
        if let Some(collection) = Collection::ALL.into_iter().find(|known| known.as_str() == name) {
            self.tell(collection);
        }
    }

    /// Whether the watching may end, which is then settled: the next listener starts it anew.
    fn is_over(&self) -> bool {
        let mut watching = self.watching();
        *watching = self.sender.receiver_count() > 0;
        !*watching
    }

    fn watching(&self) -> MutexGuard<'_, bool> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Listens to the changes of a store.
pub(crate) fn listen(store: &Database) -> broadcast::Receiver<Collection> {
    let mut watching = store.news.watching();
    let receiver = store.news.sender.subscribe();
    if !*watching {
        *watching = true;
        let (weak, stop) = (store.weak(), store.tasks().stopping());
        match store.place().0.clone() {
            Kind::File(path) => store.tasks().spawn(marks::watch(weak, path, stop)),
            Kind::Server { url, .. } => store.tasks().spawn(notices::watch(weak, url, stop)),
        };
    }
    receiver
}

/// Waits, and says whether to go on.
async fn pause(stop: &CancellationToken, time: Duration) -> bool {
    tokio::time::timeout(time, stop.cancelled()).await.is_err()
}

//! Keeps the index as the notes are, however they are changed.
//!
//! One task does it, and every search asks it first. It knows what changed from the system's watch, from the times at
//! which folders changed, which also tell of files that were put in the place of others, and from who writes notes
//! here. A search then compares every note it shows with what was indexed. What neither tells, such as a change on
//! another machine in a network's folder, is found by a look at everything once in a while.

mod keeping;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use tokio::sync::{mpsc, oneshot};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::{RelPath, Root, Tasks};

use super::index::Index;
use keeping::Keeping;

/// How many searches may wait for the index.
const WAITING: usize = 64;

/// Keeps the index as the notes are. It begins when it is first asked.
#[derive(Debug)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    tasks: Tasks,
    asked: OnceLock<mpsc::Sender<oneshot::Sender<()>>>,
}

/// What the task and those who ask it share.
#[derive(Debug)]
struct Shared {
    root: Root,
    /// The most bytes of a note that is searched.
    max_bytes: u64,
    index: RwLock<Index>,
    /// What is known to have changed.
    touched: Mutex<BTreeSet<RelPath>>,
}

impl Keeper {
    pub(super) fn new(root: Root, max_bytes: u64, tasks: &Tasks) -> Self {
        let shared = Shared { root, max_bytes, index: RwLock::default(), touched: Mutex::default() };
        Self { shared: Arc::new(shared), tasks: tasks.clone(), asked: OnceLock::new() }
    }

    /// Waits until the index is as the notes are.
    pub(super) async fn refresh(&self) -> Result<()> {
        let gone = || Error::new(Kind::Cancelled, "the index of the vault is not kept any more");
        let asked = self.asked.get_or_init(|| {
            let (sender, requests) = mpsc::channel(WAITING);
            let keeping = Keeping::new(self.shared.clone(), self.tasks.clone()).run(requests);
            self.tasks.spawn(self.tasks.stopping().run_until_cancelled_owned(keeping));
            sender
        });
        let (answer, answered) = oneshot::channel();
        asked.send(answer).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }

    /// Says that a note was, or may have been, changed.
    pub(super) fn touch(&self, paths: impl IntoIterator<Item = RelPath>) {
        self.shared.touched().extend(paths);
    }

    /// Asks the index something, on a thread that may be busy for a while.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Index) -> T + Send + 'static,
    ) -> Result<T> {
        let shared = self.shared.clone();
        let answer = self
            .tasks
            .blocking(move || question(&shared.index.read().unwrap_or_else(PoisonError::into_inner)));
        answer.await.map_err(|error| Error::new(Kind::Internal, "the search failed").because(error))
    }
}

impl Shared {
    fn touched(&self) -> std::sync::MutexGuard<'_, BTreeSet<RelPath>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index(&self) -> std::sync::RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

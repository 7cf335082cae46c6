//! Changes that nobody has asked for yet, in bounded space.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Changes;
use crate::files::RelPath;

const MAX_PATHS: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Pending {
    state: Mutex<State>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct State {
    paths: BTreeSet<RelPath>,
    many: bool,
    closed: bool,
    polled: bool,
    count: u64,
}

impl Pending {
    pub(super) fn add(&self, path: RelPath) {
        let mut state = self.state();
        state.count += 1;
        // A change of the root itself can mean anything.
        state.many |= path.is_root() || state.paths.len() >= MAX_PATHS;
        if state.many {
            state.paths.clear();
        } else {
            state.paths.insert(path);
        }
        drop(state);
        self.bell.notify_one();
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.bell.notify_one();
    }

    /// From now on changes are looked for every few seconds.
    pub(super) fn polled(&self) {
        self.state().polled = true;
    }

    pub(super) fn is_polled(&self) -> bool {
        self.state().polled
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// How many changes there have ever been.
    pub(super) fn count(&self) -> u64 {
        self.state().count
    }

    /// Waits until there is something to take, or the end.
    pub(super) async fn wait(&self) {
        loop {
            let rung = self.bell.notified();
            if self.state().is_ready() {
                return;
            }
            rung.await;
        }
    }

    pub(super) fn take(&self) -> Option<Changes> {
        let mut state = self.state();
        if std::mem::take(&mut state.many) {
            return Some(Changes::Many);
        }
        let paths = std::mem::take(&mut state.paths);
        (!paths.is_empty()).then_some(Changes::Paths(paths))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_ready(&self) -> bool {
        self.many || self.closed || !self.paths.is_empty()
    }
}

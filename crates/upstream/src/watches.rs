//! Who watches which resources of a server. It outlasts connections, and the upstream itself where its table changes:
//! a client that subscribed once is told for as long as it stays, whatever happens to the server behind us.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolgate_core::{ConnectionId, PrincipalId, RunHandle};

use crate::link::Declared;

/// How many of those who left last are remembered: what they had under way may end only after that.
const MOST_GONE: usize = 256;

/// How much may be watched by those without a connection: a client with one has a bound of its own.
const MOST_NAMELESS: usize = 1000;

/// Who watches, with all that tells which connection to the server is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Watcher {
    pub(crate) principal: PrincipalId,
    /// None for callers without one, who count as one.
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) declared: Declared,
}

impl Watcher {
    pub(crate) fn of(run: &RunHandle) -> Self {
        Self {
            principal: run.principal().id.clone(),
            connection: run.connection(),
            declared: Declared::of(&run.client()),
        }
    }

    /// Whether it is the same client, whatever can be asked of it.
    fn is(&self, other: &Self) -> bool {
        self.connection == other.connection && self.principal == other.principal
    }
}

/// What became of a wish to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    New,
    Already,
    /// Nobody would be told: who wished it has left, or has no connection and watches too much already.
    Gone,
}

/// Who watches which resources of a server. To be given to the upstream that takes the place of another.
#[derive(Debug, Clone, Default)]
pub struct Watches {
    book: Arc<Book>,
    /// Which of the upstreams that had it this is for: all but the last have nothing to watch any more.
    reign: u64,
}

#[derive(Debug, Default)]
struct Book {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    by: HashMap<Watcher, BTreeSet<Arc<str>>>,
    gone: VecDeque<ConnectionId>,
    reign: u64,
}

impl Watches {
    /// A client's connection has ended, and it watches nothing any more.
    pub fn left(&self, connection: ConnectionId) {
        let mut state = self.lock();
        if state.gone.len() >= MOST_GONE {
            state.gone.pop_front();
        }
        state.gone.push_back(connection);
        let before = state.by.len();
        state.by.retain(|watcher, _| watcher.connection != Some(connection));
        let changed = state.by.len() < before;
        drop(state);
        self.tell(changed);
    }

    /// A client no longer watches a resource, which its server may not even have now.
    pub fn let_go(&self, connection: ConnectionId, uri: &str) {
        self.remove(uri, |watcher| watcher.connection == Some(connection));
    }

    /// The connections to the server end. Who has none to us never leaves, so what it watches ends with them.
    pub(crate) fn forget_nameless(&self) {
        self.lock().by.retain(|watcher, _| watcher.connection.is_some());
    }

    /// The same for an upstream that takes the place of the last.
    pub(crate) fn succeed(&self) -> Self {
        self.forget_nameless();
        let mut state = self.lock();
        state.reign += 1;
        let reign = state.reign;
        drop(state);
        self.tell(true);
        Self { book: self.book.clone(), reign }
    }

    pub(crate) fn begin(&self, uri: &Arc<str>, watcher: &Watcher) -> Begun {
        let mut state = self.lock();
        if watcher.connection.is_some_and(|connection| state.gone.contains(&connection)) {
            return Begun::Gone;
        }
        let uris = state.by.entry(watcher.clone()).or_default();
        if watcher.connection.is_none() && uris.len() >= MOST_NAMELESS && !uris.contains(uri) {
            return Begun::Gone;
        }
        let is_new = uris.insert(uri.clone());
        drop(state);
        self.tell(is_new);
        if is_new { Begun::New } else { Begun::Already }
    }

    pub(crate) fn cease(&self, uri: &str, watcher: &Watcher) {
        self.remove(uri, |other| other.is(watcher));
    }

    /// All who watch something.
    pub(crate) fn watchers(&self) -> Vec<Watcher> {
        let state = self.lock();
        if state.reign == self.reign { state.by.keys().cloned().collect() } else { Vec::new() }
    }

    /// What some of them watch.
    pub(crate) fn of(&self, some: impl Fn(&Watcher) -> bool) -> BTreeSet<Arc<str>> {
        let state = self.lock();
        if state.reign != self.reign {
            return BTreeSet::new();
        }
        state
            .by
            .iter()
            .filter(|(watcher, _)| some(watcher))
            .flat_map(|(_, uris)| uris.iter().cloned())
            .collect()
    }

    /// Whether one of some watches a resource.
    pub(crate) fn any(&self, uri: &str, some: impl Fn(&Watcher) -> bool) -> bool {
        let state = self.lock();
        let is_mine = state.reign == self.reign;
        is_mine && state.by.iter().any(|(watcher, uris)| uris.contains(uri) && some(watcher))
    }

    /// Tells when any of it is not what it was.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.book.changed.subscribe()
    }

    fn remove(&self, uri: &str, whose: impl Fn(&Watcher) -> bool) {
        let (mut state, mut changed) = (self.lock(), false);
        state.by.retain(|watcher, uris| {
            changed |= whose(watcher) && uris.remove(uri);
            !uris.is_empty()
        });
        drop(state);
        self.tell(changed);
    }

    fn tell(&self, changed: bool) {
        if changed {
            self.book.changed.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.book.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;

//! The resources that are watched through a line, and by whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolgate_core::ConnectionId;

/// Who watches: a connection, or callers that have none, who count as one.
type Watcher = Option<ConnectionId>;

/// The resources that are watched through a line, and by whom.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    by: BTreeMap<Arc<str>, BTreeSet<Watcher>>,
    /// What the last who watched it left behind, until the server knows.
    released: Vec<Arc<str>>,
}

impl Watched {
    /// Notes that someone begins or ceases to watch a resource. Says whether the server has to know.
    pub(crate) fn note(&mut self, uri: &Arc<str>, who: Watcher, on: bool) -> bool {
        if on {
            let all = self.by.entry(uri.clone()).or_default();
            return all.insert(who) && all.len() == 1;
        }
        let Some(all) = self.by.get_mut(uri) else { return false };
        let was = all.remove(&who);
        was && all.is_empty() && self.by.remove(uri).is_some()
    }

    /// A connection has ended, and watches nothing any more. Says whether the server has to know.
    pub(crate) fn leave(&mut self, connection: ConnectionId) -> bool {
        let before = self.released.len();
        for (uri, all) in &mut self.by {
            if all.remove(&Some(connection)) && all.is_empty() {
                self.released.push(uri.clone());
            }
        }
        self.by.retain(|_, all| !all.is_empty());
        self.released.len() > before
    }

    /// What the server has to be told that nobody watches it any more, each once.
    pub(crate) fn released(&mut self) -> Vec<Arc<str>> {
        let released = std::mem::take(&mut self.released);
        released.into_iter().filter(|uri| !self.has(uri)).collect()
    }

    pub(crate) fn has(&self, uri: &Arc<str>) -> bool {
        self.by.contains_key(uri)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    pub(crate) fn uris(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by.keys()
    }
}

//! What clients watch is watched on connections that stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Shared;
use crate::line::Line;
use crate::pool::Key;

impl Shared {
    /// What is watched through a line.
    pub(crate) fn wanted_by(&self, line: &Line) -> BTreeSet<Arc<str>> {
        let bare = self.pool.find(&Key::bare());
        self.watches.of(|watcher| line.is_of(watcher, bare.as_ref(), self))
    }

    /// Whether a resource is.
    pub(crate) fn wants(&self, line: &Line, uri: &str) -> bool {
        let bare = self.pool.find(&Key::bare());
        self.watches.any(uri, |watcher| line.is_of(watcher, bare.as_ref(), self))
    }

    /// What is watched may have changed while its server could not say so.
    pub(crate) fn missed(&self, uri: &Arc<str>) {
        self.reports.updates.tell(uri, || None);
    }
}

/// Connects for all who watch something and have no connection, be it that the server was switched off, that its table
/// changed, or that it failed for too long. A lazy server is started for them too: they wait for a word from it, and
/// would never call it for one.
pub(super) fn connect(shared: &Arc<Shared>) {
    let watchers = shared.watches.watchers();
    if watchers.is_empty() || finds_out_era(shared) {
        return;
    }
    for watcher in &watchers {
        // A full pool refuses, until one of its lines ends; or one that was just switched off.
        if let Err(error) = shared.pool.line_of(watcher, shared)
            && shared.is_enabled()
        {
            shared.reports.journal.note("cannot be watched for a client", error.message());
        }
    }
    // Which line is whose may have changed with them.
    shared.pool.all().iter().for_each(|line| line.rewatch.notify_one());
}

/// Whether the server is just being learned: only then it is known who shares which connection.
fn finds_out_era(shared: &Shared) -> bool {
    let bare = shared.pool.find(&Key::bare());
    shared.known_era().is_none() && bare.is_some_and(|bare| bare.wrong().is_none())
}

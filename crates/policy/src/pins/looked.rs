//! Which lists were looked at, so that none is looked at again for nothing.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use toolgate_core::{Listing, Source, SourceId};

/// How many lists of one source are remembered: each principal may be shown another one.
const MOST: usize = 64;

/// The lists that were looked at.
#[derive(Default)]
pub(super) struct LookedAt {
    /// Newest first. A list that is gone keeps its address until it is forgotten, so none is taken for another.
    lists: HashMap<SourceId, Vec<Weak<Listing>>>,
    /// Whether the gate decides otherwise since that was last told; who looks may be gone before they can tell.
    otherwise: bool,
}

/// What came of a look at a list.
pub(super) struct Observed {
    /// Whether the gate decides otherwise now.
    pub(super) otherwise: bool,
    /// Whether something was noted by it, or forgotten for it: what was found in other lists of its source has to be
    /// found again, as it would be if these came after it.
    pub(super) displaces: bool,
}

impl LookedAt {
    pub(super) fn has(&self, source: &SourceId, listing: &Arc<Listing>) -> bool {
        let is_it = |looked: &Weak<Listing>| std::ptr::eq(looked.as_ptr(), Arc::as_ptr(listing));
        self.lists.get(source).is_some_and(|looked| looked.iter().any(is_it))
    }

    /// Whether nothing is left to be looked at, or to be told.
    pub(super) fn has_all(&self, listed: &[(Arc<dyn Source>, Arc<Listing>)]) -> bool {
        !self.otherwise && listed.iter().all(|(source, listing)| self.has(source.id(), listing))
    }

    /// Forgets sources that are gone.
    pub(super) fn retain(&mut self, listed: &[(Arc<dyn Source>, Arc<Listing>)]) {
        self.lists.retain(|id, _| listed.iter().any(|(source, _)| source.id() == id));
    }

    /// Remembers a list that was looked at.
    pub(super) fn note(&mut self, source: &SourceId, listing: &Arc<Listing>, observed: &Observed) {
        self.otherwise |= observed.otherwise;
        let lists = self.lists.entry(source.clone()).or_default();
        lists.retain(|looked| !observed.displaces && looked.strong_count() > 0);
        lists.insert(0, Arc::downgrade(listing));
        lists.truncate(MOST);
    }

    /// Whether views have to be made anew; that is told once.
    pub(super) fn tell(&mut self) -> bool {
        std::mem::take(&mut self.otherwise)
    }
}

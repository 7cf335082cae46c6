//! The lists of a server that may not be what they were, and who says so.

use std::sync::{MutexGuard, PoisonError};

use toolgate_core::Kinds;

use super::Desk;
use crate::supervisor::all_kinds;

/// The lists of a server that may not be what they were.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Changed {
    pub(crate) kinds: Kinds,
    /// Whether we want to look at them, whatever the server says.
    pub(crate) wanted: bool,
    /// Whether the server says so.
    pub(crate) told: bool,
}

impl Changed {
    pub(super) fn add(&mut self, kinds: Kinds) {
        self.kinds = self.kinds.union(kinds);
    }

    /// What there is to look at; while `wanted`, only if we want to, and all of it stays as it is if not.
    pub(super) fn take(&mut self, wanted: bool) -> Option<Self> {
        if self.kinds == Kinds::NONE || (wanted && !self.wanted) {
            return None;
        }
        Some(std::mem::take(self))
    }
}

impl Desk {
    /// The lists that may have changed since this was last asked; `wanted`: none if only the server says so.
    pub(crate) fn take_changed(&self, wanted: bool) -> Option<Changed> {
        self.changed().take(wanted)
    }

    /// Says that we want to look at all lists.
    pub(crate) fn all_changed(&self) {
        self.look_at(all_kinds());
    }

    /// Says that we want to look at these lists.
    pub(crate) fn look_at(&self, kinds: Kinds) {
        let mut changed = self.changed();
        changed.add(kinds);
        changed.wanted = true;
        drop(changed);
        self.noticed.notify_one();
    }

    /// Says that all lists have to be looked at, by who looks again by itself.
    pub(crate) fn all_changed_quietly(&self) {
        self.changed().add(all_kinds());
    }

    pub(super) fn changed(&self) -> MutexGuard<'_, Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

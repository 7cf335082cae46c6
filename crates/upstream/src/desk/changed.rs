//! The lists of a server that may not be what they were, and who says so.

use toolgate_core::{Kinds, ListKind};

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
    pub(super) fn add(&mut self, kinds: &[ListKind]) {
        self.kinds = kinds.iter().fold(self.kinds, |sum, kind| sum.with(*kind));
    }

    /// What there is to look at; while `wanted`, only if we want to, and all of it stays as it is if not.
    pub(super) fn take(&mut self, wanted: bool) -> Option<Self> {
        if self.kinds == Kinds::NONE || (wanted && !self.wanted) {
            return None;
        }
        Some(std::mem::take(self))
    }
}

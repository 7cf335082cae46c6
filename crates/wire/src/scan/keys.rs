//! The keys of the objects that are open while scanning, to find one that occurs twice.

use std::{borrow::Cow, collections::HashSet};

use super::MAX_DEPTH;
use crate::escape;

/// An object with more keys than this gets a hash set.
const FEW: usize = 16;

/// How many keys are held without an allocation.
const INLINE: usize = 32;

/// The keys of all open objects: those of the innermost last.
pub(super) struct Keys<'a> {
    /// By depth, how many keys there were when the object was opened.
    from: [usize; MAX_DEPTH + 1],
    inline: [&'a [u8]; INLINE],
    spilled: Vec<&'a [u8]>,
    len: usize,
    /// The objects with many keys, by depth.
    wide: Vec<(usize, HashSet<Cow<'a, [u8]>>)>,
    /// Whether any key so far was written with escapes.
    escaped: bool,
}

impl<'a> Keys<'a> {
    pub(super) fn new() -> Self {
        Self {
            from: [0; MAX_DEPTH + 1],
            inline: [&[]; INLINE],
            spilled: Vec::new(),
            len: 0,
            wide: Vec::new(),
            escaped: false,
        }
    }

    pub(super) fn open(&mut self, depth: usize) {
        self.from[depth] = self.len;
    }

    pub(super) fn close(&mut self, depth: usize) {
        self.len = self.from[depth];
        self.spilled.truncate(self.len.saturating_sub(INLINE));
        self.wide.pop_if(|(owner, _)| *owner == depth);
    }

    /// Adds a key to the innermost object; `false` if it is there already.
    pub(super) fn insert(&mut self, depth: usize, key: &'a [u8], escaped: bool) -> bool {
        self.escaped |= escaped;
        if let Some((owner, set)) = self.wide.last_mut()
            && *owner == depth
        {
            return set.insert(escape::decode(key));
        }
        let from = self.from[depth];
        // The usual case is a plain slice to look through.
        let known = match self.inline.get(from..self.len) {
            Some(keys) => keys.iter().any(|other| self.same(other, key)),
            None => (from..self.len).any(|index| self.same(self.get(index), key)),
        };
        if known {
            return false;
        }
        self.push(key);
        if self.len - from > FEW {
            let set = (from..self.len).map(|index| escape::decode(self.get(index))).collect();
            self.wide.push((depth, set));
        }
        true
    }

    fn same(&self, left: &[u8], right: &[u8]) -> bool {
        left == right || (self.escaped && escape::decode(left) == escape::decode(right))
    }

    fn get(&self, index: usize) -> &'a [u8] {
        match self.inline.get(index) {
            Some(key) => key,
            None => self.spilled[index - INLINE],
        }
    }

    fn push(&mut self, key: &'a [u8]) {
        match self.inline.get_mut(self.len) {
            Some(slot) => *slot = key,
            None => self.spilled.push(key),
        }
        self.len += 1;
    }
}

//! The last of what a page says: numbered, and bounded.

use std::collections::VecDeque;

/// The last entries of many, each with a number that stays.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    kept: VecDeque<T>,
    most: usize,
    /// How many there have been.
    count: u64,
}

impl<T> Ring<T> {
    pub(crate) const fn new(most: usize) -> Self {
        Self { kept: VecDeque::new(), most, count: 0 }
    }

    /// Adds one, and forgets the oldest where there are too many.
    pub(crate) fn push(&mut self, entry: T) {
        if self.kept.len() >= self.most {
            self.kept.pop_front();
        }
        self.kept.push_back(entry);
        self.count += 1;
    }

    /// How many there have been.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Those that are kept, with their numbers from 1.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        let first = self.count - self.kept.len() as u64;
        self.kept.iter().enumerate().map(move |(at, entry)| (first + 1 + at as u64, entry))
    }

    /// The latest that fits.
    pub(crate) fn latest_mut(&mut self, fits: impl Fn(&T) -> bool) -> Option<&mut T> {
        self.kept.iter_mut().rev().find(|entry| fits(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entries_keep_their_numbers() {
        let mut ring = Ring::new(2);
        assert_eq!(ring.iter().count(), 0);
        for entry in ["a", "b", "c"] {
            ring.push(entry);
        }
        assert_eq!(ring.iter().collect::<Vec<_>>(), [(2, &"b"), (3, &"c")]);
        *ring.latest_mut(|entry| *entry == "b").unwrap() = "x";
        assert_eq!(ring.iter().next(), Some((2, &"x")));
        assert!(ring.latest_mut(|entry| *entry == "a").is_none());
        assert_eq!(ring.count(), 3);
    }
}

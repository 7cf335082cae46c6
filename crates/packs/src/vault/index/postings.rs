//! The notes that have a word, in few bytes each.

/// The notes that have a word, with what it counts in each: by number, the distance from the one before, and the
/// weight where it is not one.
#[derive(Debug, Default)]
pub(super) struct Postings {
    bytes: Vec<u8>,
    last: u32,
    count: u32,
}

impl Postings {
    /// Adds a note, whose number is greater than that of all before.
    pub(super) fn push(&mut self, number: u32, weight: u8) {
        let distance = u64::from(number - if self.count == 0 { 0 } else { self.last });
        let mut left = distance << 1 | u64::from(weight != 1);
        while left >= 0x80 {
            self.bytes.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        self.bytes.push(left.to_le_bytes()[0]);
        if weight != 1 {
            self.bytes.push(weight);
        }
        self.last = number;
        self.count += 1;
    }

    /// The notes and what the word counts in each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u8)> {
        let mut bytes = self.bytes.iter().copied();
        let mut number = 0_u32;
        std::iter::from_fn(move || {
            let (mut value, mut shift) = (0_u64, 0);
            loop {
                let byte = bytes.next()?;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            let weight = if value & 1 == 1 { bytes.next()? } else { 1 };
            number += u32::try_from(value >> 1).ok()?;
            Some((number, weight))
        })
    }

    /// The same notes under other numbers, in the same order; those without a number are left out.
    pub(super) fn moved(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let mut moved = Self::default();
        for (old, weight) in self.iter() {
            if let Some(new) = number(old) {
                moved.push(new, weight);
            }
        }
        moved
    }

    /// How many notes there are, those that are gone included.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out() {
        let all = [(0, 1), (1, 7), (2, 255), (200, 1), (70_000, 2), (u32::MAX, 1)];
        let mut postings = Postings::default();
        all.iter().for_each(|(number, weight)| postings.push(*number, *weight));
        assert_eq!(postings.iter().collect::<Vec<_>>(), all);
        assert_eq!((postings.len(), postings.bytes.len()), (6, 1 + 2 + 2 + 2 + 4 + 5));
        let odd = postings.moved(|number| (number % 2 == 1).then_some(number / 2));
        assert_eq!(odd.iter().collect::<Vec<_>>(), [(0, 7), (u32::MAX / 2, 1)]);
        assert!(Postings::default().is_empty() && Postings::default().iter().next().is_none());
    }
}

//! What was found, as pieces that do not overlap.

use std::cmp::Reverse;
use std::ops::Range;

use super::decode::Decoded;
use super::patterns::Patterns;

/// A form of a secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Which secret.
    pub(crate) owner: u32,
    /// Whether it is a part of a base64 text.
    pub(crate) base64: bool,
}

/// What is to be replaced: like hits, but in order and without overlaps.
pub(crate) type Piece = Hit;

impl Hit {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The same in a text that has so many bytes before.
    pub(crate) fn behind(self, before: usize) -> Self {
        Self { start: before + self.start, end: before + self.end, ..self }
    }

    /// The same in the text as it was written.
    pub(crate) fn written(self, decoded: &Decoded) -> Self {
        let Range { start, end } = decoded.written(self.range());
        Self { start, end, ..self }
    }
}

/// Makes pieces of hits. Of two that overlap the first counts in full, the other where it goes on.
pub(crate) fn settle(mut hits: Vec<Hit>) -> Vec<Piece> {
    hits.sort_unstable_by_key(|hit| (hit.start, Reverse(hit.end), hit.owner));
    let mut pieces: Vec<Piece> = Vec::with_capacity(hits.len());
    for hit in hits {
        match pieces.last_mut() {
            Some(last) if hit.end <= last.end => last.base64 |= hit.base64,
            Some(last) if hit.start < last.end && hit.owner == last.owner => {
                last.end = hit.end;
                last.base64 |= hit.base64;
            }
            Some(last) if hit.start < last.end => {
                let start = last.end;
                pieces.push(Piece { start, ..hit });
            }
            _ => pieces.push(hit),
        }
    }
    pieces
}

/// Replaces the pieces of a plain text, and counts them.
pub(crate) fn replace(text: &[u8], pieces: &[Piece], patterns: &Patterns) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for piece in pieces {
        out.extend_from_slice(&text[copied..piece.start]);
        out.extend_from_slice(patterns.marker(piece.owner).as_bytes());
        copied = piece.end;
    }
    out.extend_from_slice(&text[copied..]);
    (out, pieces.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_become_neighbours() {
        #[track_caller]
        fn check(hits: &[(usize, usize, u32)], expect: &[(usize, usize, u32)]) {
            let hits = hits.iter().map(|&(start, end, owner)| Hit { start, end, owner, base64: false });
            let pieces: Vec<_> =
                settle(hits.collect()).iter().map(|piece| (piece.start, piece.end, piece.owner)).collect();
            assert_eq!(pieces, expect);
        }
        check(&[], &[]);
        check(&[(5, 9, 1), (0, 4, 0)], &[(0, 4, 0), (5, 9, 1)]);
        check(&[(0, 4, 0), (4, 9, 1)], &[(0, 4, 0), (4, 9, 1)]);
        check(&[(0, 4, 0), (0, 9, 1)], &[(0, 9, 1)]);
        check(&[(0, 9, 0), (2, 5, 1)], &[(0, 9, 0)]);
        check(&[(0, 9, 0), (5, 12, 1), (11, 14, 0)], &[(0, 9, 0), (9, 12, 1), (12, 14, 0)]);
        check(&[(0, 8, 0), (1, 9, 0), (2, 10, 0)], &[(0, 10, 0)]);
        check(&[(0, 8, 0), (0, 8, 1)], &[(0, 8, 0)]);
    }
}

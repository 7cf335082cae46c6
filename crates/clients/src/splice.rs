//! Edits of a text that leave every other byte where it is.

use std::ops::Range;

/// One edit: these bytes give way to that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) at: Range<usize>,
    pub(crate) with: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { at: at..at, with: with.into() }
    }

    pub(crate) fn cut(at: Range<usize>) -> Self {
        Self { at, with: String::new() }
    }
}

/// The text after these edits, which come in order and do not overlap.
pub(crate) fn apply(text: &str, splices: &[Splice]) -> String {
    let mut out =
        String::with_capacity(text.len() + splices.iter().map(|splice| splice.with.len()).sum::<usize>());
    let mut done = 0;
    for Splice { at, with } in splices {
        debug_assert!(done <= at.start, "edits come in order");
        out.push_str(&text[done..at.start]);
        out.push_str(with);
        done = at.end;
    }
    out.push_str(&text[done..]);
    out
}

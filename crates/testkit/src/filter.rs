//! Filters: one that hides a word, and one that breaks down.

use toolgate_core::Filter;
use toolgate_wire::Raw;

/// Replaces a word wherever it goes out. The word must need no escape in JSON.
pub struct FakeFilter {
    word: &'static str,
    by: &'static str,
}

impl FakeFilter {
    /// A filter that writes `by` for `word`.
    pub fn new(word: &'static str, by: &'static str) -> Self {
        Self { word, by }
    }
}

impl Filter for FakeFilter {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn json(&self, raw: Raw) -> Raw {
        match self.text(raw.as_str()) {
            Some(text) => Raw::parse(text.into()).unwrap(),
            None => raw,
        }
    }

    fn text(&self, text: &str) -> Option<String> {
        text.contains(self.word).then(|| text.replace(self.word, self.by))
    }
}

/// Breaks down whatever it is given.
pub struct BrokenFilter;

impl Filter for BrokenFilter {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn json(&self, _: Raw) -> Raw {
        panic!("broken")
    }

    fn text(&self, _: &str) -> Option<String> {
        panic!("broken")
    }
}

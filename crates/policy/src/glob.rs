//! Patterns in which `*` stands for anything, and nothing else is special.

use std::fmt;

use toolgate_core::fits_pattern;

/// A pattern in which `*` stands for any text, also none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    text: Box<str>,
    stars: Stars,
}

/// Where the stars of a pattern are: looked for once, because it is tried for every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stars {
    None,
    One(usize),
    Several,
}

impl Glob {
    /// The pattern.
    pub(crate) fn new(text: &str) -> Self {
        let mut places = text.match_indices('*').map(|(at, _)| at);
        let stars = match (places.next(), places.next()) {
            (None, _) => Stars::None,
            (Some(at), None) => Stars::One(at),
            (Some(_), Some(_)) => Stars::Several,
        };
        Self { text: text.into(), stars }
    }

    /// Whether it fits the whole text.
    pub(crate) fn fits(&self, whole: &str) -> bool {
        let (pattern, text) = (self.text.as_bytes(), whole.as_bytes());
        match self.stars {
            Stars::None => pattern == text,
            Stars::One(at) => {
                let (head, tail) = (&pattern[..at], &pattern[at + 1..]);
                text.len() >= head.len() + tail.len() && text.starts_with(head) && text.ends_with(tail)
            }
            Stars::Several => fits_pattern(&self.text, whole),
        }
    }

    /// Whether it may fit some text that begins like this.
    pub(crate) fn may_fit_after(&self, beginning: &str) -> bool {
        match self.text.split_once('*') {
            None => self.text.starts_with(beginning),
            Some((head, _)) => head.starts_with(beginning) || beginning.starts_with(head),
        }
    }

    /// Whether it fits every text that begins like this.
    pub(crate) fn fits_all_after(&self, beginning: &str) -> bool {
        // A `*` at the end takes whatever follows; what comes before it has to be found in the beginning.
        self.text.ends_with('*') && self.fits(beginning)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, word for word: a star takes nothing, or one character and goes on.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => {
                naive(rest, text) || text.split_first().is_some_and(|(_, text)| naive(pattern, text))
            }
            Some((one, rest)) => {
                text.split_first().is_some_and(|(first, text)| one == first && naive(rest, text))
            }
        }
    }

    fn naive_fits(pattern: &str, text: &str) -> bool {
        naive(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())
    }

    #[test]
    fn a_star_stands_for_anything() {
        #[track_caller]
        fn check(pattern: &str, text: &str, expect: bool) {
            assert_eq!(Glob::new(pattern).fits(text), expect, "{pattern} {text}");
        }
        check("workspace_*", "workspace_read", true);
        check("workspace_*", "workspace", false);
        check("*", "", true);
        check("", "", true);
        check("", "x", false);
        check("a*a", "a", false);
        check("a*a", "aa", true);
        check("*_read", "workspace_read", true);
        check("*ab*ab", "ab", false);
        check("*ab*ab", "xabyab", true);
        check("a.b", "axb", false);
        check("[a]?", "[a]?", true);
    }

    proptest! {
        #[test]
        fn it_fits_what_a_naive_matcher_fits(pattern in "[ab*é]{0,8}", text in "[abé]{0,10}") {
            prop_assert_eq!(Glob::new(&pattern).fits(&text), naive_fits(&pattern, &text));
        }

        #[test]
        fn what_it_says_of_beginnings_holds_for_every_end(
            pattern in "[ab*]{0,6}", beginning in "[ab]{0,4}", end in "[ab]{0,6}"
        ) {
            let glob = Glob::new(&pattern);
            let fits = glob.fits(&format!("{beginning}{end}"));
            prop_assert!(!glob.fits_all_after(&beginning) || fits);
            prop_assert!(!fits || glob.may_fit_after(&beginning));
        }
    }
}

//! What is noted while a server is checked: which rules were tried, and what was found.

use std::collections::{BTreeMap, HashSet};

use crate::rule::Rule;

/// How many findings of one rule are kept; a server with a thousand tools has the same fault a thousand times.
const MOST: usize = 100;

/// The longest text of a server that a finding quotes, in characters.
const QUOTE: usize = 120;

/// The longest text of a report, in characters: most are quotes already, but not every number is a number.
const MOST_LETTERS: usize = 1000;

/// That a rule does not hold somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Where.
    pub place: String,
    /// What is there instead.
    pub what: String,
}

impl std::hash::Hash for Rule {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// A rule that was not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The rule.
    pub rule: &'static Rule,
    /// Why not.
    pub why: String,
}

/// What is noted while a server is checked.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    findings: Vec<Finding>,
    seen: HashSet<Finding>,
    counts: BTreeMap<&'static str, usize>,
    tried: HashSet<&'static str>,
    skipped: BTreeMap<&'static str, String>,
}

impl Notes {
    /// A rule is tried.
    pub(crate) fn tried(&mut self, rule: &'static Rule) {
        self.tried.insert(rule.id);
    }

    /// A rule cannot be tried here; it may still be tried elsewhere.
    pub(crate) fn skip(&mut self, rule: &'static Rule, why: impl Into<String>) {
        self.skipped.insert(rule.id, bounded(&why.into()));
    }

    /// A rule does not hold. The same again counts once.
    pub(crate) fn found(&mut self, rule: &'static Rule, place: impl Into<String>, what: impl Into<String>) {
        self.tried(rule);
        let finding = Finding { rule, place: bounded(&place.into()), what: bounded(&what.into()) };
        let count = self.counts.entry(rule.id).or_default();
        if *count < MOST && self.seen.insert(finding.clone()) {
            *count += 1;
            self.findings.push(finding);
        }
    }

    /// All that was found.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Why a rule was not tried; none where it was.
    pub(crate) fn why_not(&self, rule: &'static Rule) -> Option<String> {
        if self.tried.contains(rule.id) {
            return None;
        }
        Some(
            self.skipped.get(rule.id).map_or_else(|| "it does not apply to this server".into(), Clone::clone),
        )
    }
}

/// A text of a server, cut to a length that a report can quote.
pub(crate) fn quote(text: &str) -> String {
    cut(text.trim(), QUOTE)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

/// A text that may hold what a server said, as a report shows it.
pub(crate) fn bounded(text: &str) -> String {
    shown(&cut(text, MOST_LETTERS))
}

/// A text in which nothing is invisible, and nothing that a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            letter if crate::rules::is_hidden(letter) => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::error;

    static RULE: Rule = error("some-rule", "Something holds.", "make it hold");

    #[test]
    fn the_same_finding_counts_once_and_a_flood_is_bounded() {
        let mut notes = Notes::default();
        assert!(notes.why_not(&RULE).is_some());
        for round in 0..2 * MOST {
            notes.found(&RULE, "here", format!("{}", round / 2));
            notes.found(&RULE, "here", format!("{}", round / 2));
        }
        assert_eq!(notes.findings().len(), MOST);
        assert_eq!(notes.why_not(&RULE), None);
    }

    #[test]
    fn what_a_server_says_is_quoted_without_anything_invisible() {
        assert_eq!(shown("a\u{1b}[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c d");
        assert_eq!(quote(&"x".repeat(500)).chars().count(), QUOTE);
        assert_eq!(quote(" short "), "short");
        let mut notes = Notes::default();
        notes.skip(&RULE, format!("it says \u{1b}[2J{}", "x".repeat(5000)));
        let why = notes.why_not(&RULE).unwrap();
        assert!(why.starts_with("it says \\u{1b}[2Jxx") && why.chars().count() < 2 * MOST_LETTERS, "{why}");
        notes.found(&RULE, "y".repeat(5000), "x".repeat(5000));
        let finding = &notes.findings()[0];
        assert_eq!(
            (finding.place.chars().count(), finding.what.chars().count()),
            (MOST_LETTERS, MOST_LETTERS)
        );
    }
}

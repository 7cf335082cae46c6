//! What to ask to be allowed: what is configured or described, and what a server said was missing.

use std::collections::HashSet;

use super::discovery::Found;
use super::store::{Record, lock};
use super::{Authorizer, Challenge};

/// How many words a server may make a machine ask for by and by, and how many bytes these are.
const MOST_WORDS: usize = 64;
const MOST_BYTES: usize = 4096;

impl Authorizer {
    /// What to ask to be allowed: what is configured, or else what the server says; and what it said was missing.
    pub(super) fn scope(&self, record: &Record, found: &Found) -> Option<String> {
        let Some(wanted) = &record.wanted else { return self.usual_scope(found) };
        self.whole_scope(&[allowed(record), self.plan.scope.as_deref().unwrap_or_default(), wanted], found)
    }

    /// The same for a machine, the most first: nobody is there to choose, and a word that its client may not have does
    /// not cost it the others.
    pub(super) fn machine_scopes(&self, record: &Record, found: &Found) -> Vec<String> {
        let usual = self.usual_scope(found).unwrap_or_default();
        let wanted = record.wanted.as_deref().unwrap_or_default();
        let before: HashSet<&str> = allowed(record).split_whitespace().collect();
        let had: Vec<&str> = wanted.split_whitespace().filter(|word| before.contains(word)).collect();
        let mut all: Vec<String> = [wanted, &had.join(" "), ""]
            .iter()
            .map(|more| self.whole_scope(&[&usual, more], found).unwrap_or_default())
            .collect();
        all.dedup();
        all
    }

    fn usual_scope(&self, found: &Found) -> Option<String> {
        let challenged = || lock(&self.challenge).as_deref().map(Challenge::read).and_then(|one| one.scope);
        let usual = self.plan.scope.clone().or_else(challenged).or_else(|| found.scopes.clone());
        self.whole_scope(&[usual.as_deref().unwrap_or_default()], found)
    }

    fn whole_scope(&self, parts: &[&str], found: &Found) -> Option<String> {
        let mut words: Vec<&str> = parts.iter().flat_map(|part| part.split_whitespace()).collect();
        // Without it some give nothing to renew by.
        let offline = "offline_access";
        if !words.is_empty() && self.needs_person() && found.authority.scopes.iter().any(|one| one == offline)
        {
            words.push(offline);
        }
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(*word));
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// What a machine wants with what is missing now; none if that was asked for already, or would be too much.
pub(super) fn wanted_with(wanted: Option<&str>, missing: &str) -> Option<String> {
    let before: Vec<&str> = wanted.unwrap_or_default().split_whitespace().collect();
    let mut all = before.clone();
    for word in missing.split_whitespace() {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    let text = all.join(" ");
    (all.len() > before.len() && all.len() <= MOST_WORDS && text.len() <= MOST_BYTES).then_some(text)
}

/// What is wanted and was not given.
pub(super) fn lacking(record: &Record) -> Option<String> {
    let given: HashSet<&str> = allowed(record).split_whitespace().collect();
    let wanted = record.wanted.as_deref()?.split_whitespace();
    let words: Vec<&str> = wanted.filter(|word| !given.contains(word)).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn allowed(record: &Record) -> &str {
    record.tokens.as_ref().and_then(|tokens| tokens.scope.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_asks_for_what_is_missing_once_and_not_for_everything() {
        #[track_caller]
        fn check(wanted: Option<&str>, missing: &str, expect: Option<&str>) {
            assert_eq!(wanted_with(wanted, missing).as_deref(), expect, "{wanted:?} {missing}");
        }
        check(None, "a", Some("a"));
        check(None, "a  b a", Some("a b"));
        check(Some("a"), "a b", Some("a b"));
        check(Some("a b"), "b a", None);
        check(Some("a"), "", None);
        check(None, "", None);
        let many: Vec<String> = (0..MOST_WORDS).map(|number| number.to_string()).collect();
        let many = many.join(" ");
        check(None, &many, Some(&many));
        check(Some(&many), "a", None);
        check(None, &"a".repeat(MOST_BYTES + 1), None);
    }
}

//! Which rules can match a call of a tool, remembered: most calls are like one before.

use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use toolgate_core::{Hints, QuickState};

use crate::decide::{Asked, By};

/// Of how many kinds of calls it is remembered; one that comes to the place of another replaces it.
const SLOTS: usize = 256;

/// What is remembered of one policy.
pub(crate) struct Memo {
    hasher: QuickState,
    slots: Box<[ArcSwapOption<Remembered>]>,
}

/// What a policy says of a call before its arguments are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Possible {
    /// It is beyond what the principal may use.
    Beyond(By),
    /// It is for these rules, in this order, of which only the last can be without a condition; then for the default.
    Rules(Box<[usize]>),
}

/// What is known of calls that are alike in everything but their arguments and their client: only conditions see those.
struct Remembered {
    principal: Box<str>,
    roles: Box<[Box<str>]>,
    tool: Box<str>,
    hints: Option<Hints>,
    source: Option<Box<str>>,
    profile: Option<Box<str>>,
    possible: Possible,
}

impl Memo {
    /// Passes on what is possible: what was found for a call like this one, or else what is found now.
    pub(crate) fn recall<T>(
        &self,
        asked: &Asked<'_>,
        find: impl FnOnce() -> Possible,
        then: impl FnOnce(&Possible) -> T,
    ) -> T {
        // A tool is one that there is; anything else may be named freely, and would drive out what comes again.
        if asked.subject.kind != "tool" {
            return then(&find());
        }
        let hash = self.hasher.hash_one((asked.principal, asked.roles, asked.subject.name, asked.profile));
        let slot = &self.slots[usize::try_from(hash % self.slots.len() as u64).unwrap_or_default()];
        if let Some(known) = &*slot.load()
            && known.is_of(asked)
        {
            return then(&known.possible);
        }
        let known = Remembered::new(asked, find());
        let done = then(&known.possible);
        slot.store(Some(Arc::new(known)));
        done
    }
}

impl Remembered {
    fn new(asked: &Asked<'_>, possible: Possible) -> Self {
        Self {
            principal: asked.principal.into(),
            roles: asked.roles.iter().map(|role| Box::from(*role)).collect(),
            tool: asked.subject.name.into(),
            hints: asked.hints,
            source: asked.source.map(Box::from),
            profile: asked.profile.map(Box::from),
            possible,
        }
    }

    fn is_of(&self, asked: &Asked<'_>) -> bool {
        let Self { principal, roles, tool, hints, source, profile, possible: _ } = self;
        **principal == *asked.principal
            && **tool == *asked.subject.name
            && source.as_deref() == asked.source
            && profile.as_deref() == asked.profile
            && *hints == asked.hints
            && roles.iter().map(|role| &**role).eq(asked.roles.iter().copied())
    }
}

impl Default for Memo {
    fn default() -> Self {
        let slots = std::iter::repeat_with(ArcSwapOption::empty).take(SLOTS).collect();
        Self { hasher: QuickState::default(), slots }
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Subject;

    fn asked(change: impl FnOnce(&mut Asked<'static>)) -> Asked<'static> {
        let mut asked = Asked {
            principal: "alice",
            roles: &["ops"],
            subject: Subject::listed("tool", "files_read"),
            hints: Some(Hints::READ_ONLY),
            source: Some("files"),
            client: Some("editor"),
            profile: Some("dev"),
        };
        change(&mut asked);
        asked
    }

    /// What is passed on where so much would be found now.
    fn recall(memo: &Memo, asked: &Asked<'_>, now: usize) -> Possible {
        memo.recall(asked, || Possible::Rules([now].into()), Possible::clone)
    }

    #[test]
    fn only_what_was_found_for_a_call_that_is_alike_is_passed_on() {
        type Change = fn(&mut Asked<'static>);
        let others: [(&str, Change); 10] = [
            ("principal", |it| it.principal = "bob"),
            ("tool", |it| it.subject.name = "files_write"),
            ("role", |it| it.roles = &["dev"]),
            ("one role more", |it| it.roles = &["ops", "dev"]),
            ("no role", |it| it.roles = &[]),
            ("hints", |it| it.hints = Some(Hints::default())),
            ("no hints", |it| it.hints = None),
            ("source", |it| it.source = Some("other")),
            ("profile", |it| it.profile = Some("ops")),
            ("no profile", |it| it.profile = None),
        ];
        for (what, change) in others {
            // A single slot, so that all meet there.
            let memo = Memo { slots: [ArcSwapOption::empty()].into(), ..Memo::default() };
            let usual = asked(|_| {});
            assert_eq!(recall(&memo, &usual, 1), Possible::Rules([1].into()));
            assert_eq!(recall(&memo, &usual, 2), Possible::Rules([1].into()));
            assert_eq!(recall(&memo, &asked(change), 3), Possible::Rules([3].into()), "{what}");
            assert_eq!(recall(&memo, &usual, 4), Possible::Rules([4].into()), "{what}: replaced");
        }
    }

    #[test]
    fn the_client_makes_no_difference_before_conditions_are_looked_at() {
        let memo = Memo::default();
        recall(&memo, &asked(|_| {}), 1);
        assert_eq!(recall(&memo, &asked(|it| it.client = None), 2), Possible::Rules([1].into()));
    }

    #[test]
    fn what_callers_name_freely_is_not_remembered() {
        let memo = Memo::default();
        let resource = asked(|it| it.subject = Subject::listed("resource", "file:///a"));
        recall(&memo, &resource, 1);
        assert_eq!(recall(&memo, &resource, 2), Possible::Rules([2].into()));
    }
}

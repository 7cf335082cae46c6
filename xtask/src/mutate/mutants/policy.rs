//! Mutants of the rules, the limiter and the pins.

use super::{Mutant, POLICY};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "rules-judge",
        file: "crates/policy/src/gate.rs",
        find: "fn judge(&self, judged: Judged<'_>) -> Judgement {",
        replace: r"fn judge(&self, judged: Judged<'_>) -> Judgement {
        return Verdict::Pass.into();",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-shows",
        file: "crates/policy/src/gate.rs",
        find: "origin: Origin<'_>) -> bool {",
        replace: r"origin: Origin<'_>) -> bool {
        return true;",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-profile",
        file: "crates/policy/src/decide.rs",
        find: "(!has).then(|| By::Profile(profile.to_owned()))",
        replace: "(!has && false).then(|| By::Profile(profile.to_owned()))",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-lists",
        file: "crates/policy/src/decide.rs",
        find: "if !self.within_lists(asked) {",
        replace: "if false && !self.within_lists(asked) {",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-lists-own",
        file: "crates/policy/src/decide.rs",
        find: "and_then(|person| person.may_use.as_ref());",
        replace: "and_then(|person| person.may_use.as_ref()).filter(|_| false);",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-lists-roles",
        file: "crates/policy/src/decide.rs",
        find: "let of_roles = asked.roles.iter()",
        replace: "let of_roles = asked.roles.iter().take(0)",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-targets",
        file: "crates/policy/src/decide.rs",
        find: "targets.fit(&asked.subject, sure)",
        replace: "(true || targets.fit(&asked.subject, sure))",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-principals",
        file: "crates/policy/src/decide.rs",
        find: "if !is_meant(self.who.as_deref(), asked.principal, asked.roles) {",
        replace: "if false && !is_meant(self.who.as_deref(), asked.principal, asked.roles) {",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-source",
        file: "crates/policy/src/decide.rs",
        find: "source.is_some_and(|source| glob.fits(source))",
        replace: "source.is_some_and(|source| true || glob.fits(source))",
        tests: &[POLICY],
    },
    Mutant {
        name: "rules-hints",
        file: "crates/policy/src/decide.rs",
        find: "self.hints.unmet(asked.hints).map(Fit::OtherHint)",
        replace: "self.hints.unmet(asked.hints).map(Fit::OtherHint).filter(|_| false)",
        tests: &[POLICY],
    },
    Mutant {
        name: "condition-false",
        file: "crates/policy/src/condition.rs",
        find: "Ok(Value::Bool(holds)) => Ok(holds),",
        replace: "Ok(Value::Bool(_)) => Ok(false),",
        tests: &[POLICY],
    },
    Mutant {
        name: "condition-true",
        file: "crates/policy/src/condition.rs",
        find: "Ok(Value::Bool(holds)) => Ok(holds),",
        replace: "Ok(Value::Bool(_)) => Ok(true),",
        tests: &[POLICY],
    },
    Mutant {
        name: "condition-untold",
        file: "crates/policy/src/decide.rs",
        find: "(Err(why), Effect::Ask | Effect::Deny) => Fit::MatchesUntold(why),",
        replace: "(Err(why), Effect::Ask | Effect::Deny) => Fit::Untold(why),",
        tests: &[POLICY],
    },
    Mutant {
        name: "limiter-take",
        file: "crates/policy/src/limits.rs",
        find: "fn take(&self, principal: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {",
        replace: r"fn take(&self, principal: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {
        return Ok(Taken::default());",
        tests: &[POLICY],
    },
    Mutant {
        name: "limiter-targets",
        file: "crates/policy/src/limits.rs",
        find: "let matching = settings.matching(principal, target);",
        replace: "let matching = settings.matching(principal, target) & 0;",
        tests: &[POLICY],
    },
    Mutant {
        name: "limiter-concurrency",
        file: "crates/policy/src/places.rs",
        find: "if state.running < state.room.concurrent {",
        replace: "if state.running < usize::MAX {",
        tests: &[POLICY],
    },
    Mutant {
        name: "pins-judge",
        file: "crates/policy/src/pins/gate.rs",
        find: "let refusal = match self.stands(tool, origin) {",
        replace: "let refusal = match Looked::Fine {",
        tests: &[POLICY],
    },
    Mutant {
        name: "pins-shows",
        file: "crates/policy/src/pins/gate.rs",
        find: "matches!(self.stands(tool, origin), Looked::Fine)",
        replace: "true",
        tests: &[POLICY],
    },
];

//! Why a policy decides as it does.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use toolgate_core::{Hints, Target};
use toolgate_wire::Raw;

use crate::compiled::{Compiled, Rule};
use crate::condition::Arguments;
use crate::config::Effect;
use crate::decide::{Asked, By, Fit};
use crate::target::Subject;

/// What to explain: a call as it might be made.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Who calls.
    pub principal: &'a str,
    /// The roles that the token of the principal brings along.
    pub roles: &'a [Arc<str>],
    /// What for.
    pub target: &'a Target,
    /// With which arguments, an object.
    pub args: Raw,
    /// What the tool says of itself, where it is one and is known.
    pub hints: Option<Hints>,
    /// Where it goes, where that is known.
    pub source: Option<&'a str>,
    /// The name of the client.
    pub client: Option<&'a str>,
    /// The named view it comes in by.
    pub profile: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// A call of a principal for a target, with nothing else known.
    pub fn new(principal: &'a str, target: &'a Target) -> Self {
        Self {
            principal,
            target,
            roles: &[],
            args: Raw::EMPTY_OBJECT,
            hints: None,
            source: None,
            client: None,
            profile: None,
        }
    }
}

/// What a policy says of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Who calls.
    pub principal: String,
    /// All roles of the principal.
    pub roles: Vec<String>,
    /// What for, as `name` of a tool or `kind:name`.
    pub target: String,
    /// The view it is looked up in.
    pub profile: Option<String>,
    /// What is decided.
    pub gives: Effect,
    /// The rule that decides; `default`, `may_use` and `profile NAME` stand for no rule.
    pub rule: String,
    /// The reason that the rule gives.
    pub reason: Option<String>,
    /// Whether it is listed: whether some arguments could pass.
    pub listed: bool,
    /// Every rule that was tried, in order.
    pub tried: Vec<Step>,
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its name.
    pub rule: String,
    /// What it would decide.
    pub then: Effect,
    /// Whether it matches.
    pub matches: bool,
    /// Why, in words.
    pub why: String,
}

impl Compiled {
    /// Explains what this policy says of a call.
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        let roles = self.roles_of(question.principal, question.roles);
        let asked = Asked {
            principal: question.principal,
            roles: &roles,
            subject: Subject::of(question.target),
            hints: question.hints,
            source: question.source,
            client: question.client,
            profile: question.profile,
        };
        let arguments = Arguments::new(question.args.clone());
        let decision = self.decide(&asked, &arguments);
        let tried = self.tried(&asked, &arguments).iter().map(|(rule, fit)| step(rule, fit)).collect();
        let own = self.principals.get(question.principal).and_then(|person| person.profile.clone());
        let by_rule = matches!(decision.by, By::Rule(_));
        Explanation {
            principal: question.principal.to_owned(),
            roles: roles.iter().map(ToString::to_string).collect(),
            target: asked.subject.shown().into_owned(),
            profile: question.profile.map(ToOwned::to_owned).or(own),
            gives: decision.effect,
            rule: decision.by.name().to_string(),
            reason: decision.reason.filter(|_| by_rule).map(|reason| reason.to_string()),
            listed: self.shows(&asked),
            tried,
        }
    }
}

fn step(rule: &Rule, fit: &Fit) -> Step {
    let why = match fit {
        Fit::Matches => "all that it says holds".into(),
        Fit::MatchesUntold(why) => format!("its condition cannot be told, so it counts: {why}"),
        Fit::OtherTarget => "it is about other targets".into(),
        Fit::OtherPrincipal => "it is about other principals".into(),
        Fit::OtherSource => "it is about another source".into(),
        Fit::OtherHint(hint) => format!("`{hint}` is not as it says"),
        Fit::ConditionFalse => "its condition does not hold".into(),
        Fit::Untold(why) => format!("its condition cannot be told, so it does not count: {why}"),
    };
    Step { rule: rule.name.to_string(), then: rule.then, matches: fit.matches(), why }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles =
            if self.roles.is_empty() { String::new() } else { format!(" ({})", self.roles.join(", ")) };
        writeln!(f, "principal  {}{roles}", self.principal)?;
        writeln!(f, "target     {}", self.target)?;
        if let Some(profile) = &self.profile {
            writeln!(f, "profile    {profile}")?;
        }
        let by = match self.rule.as_str() {
            "default" => "no rule matches, so `policy.default` decides".to_owned(),
            "may_use" => "it is not in `may_use` of the principal or its roles".into(),
            rule if rule.starts_with("profile ") && self.tried.is_empty() => {
                "it is not in the profile".into()
            }
            rule => format!("by the rule `{rule}`"),
        };
        writeln!(f, "decision   {}: {by}", self.gives.as_str())?;
        if let Some(reason) = &self.reason {
            writeln!(f, "reason     {reason}")?;
        }
        writeln!(f, "listed     {}", if self.listed { "yes" } else { "no" })?;
        for step in &self.tried {
            let mark = if step.matches { "->" } else { "  " };
            writeln!(f, "{mark} {} ({}): {}", step.rule, step.then.as_str(), step.why)?;
        }
        Ok(())
    }
}

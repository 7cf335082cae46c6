//! The one place where rules are weighed: for calls, for lists, and for explanations.

use std::sync::{Arc, LazyLock};

use toolgate_core::Hints;

use crate::compiled::{Compiled, Rule};
use crate::condition::{Arguments, Facts};
use crate::config::Effect;
use crate::memo::Possible;
use crate::principal::is_meant;
use crate::target::{Subject, Sure};

/// What decides on most calls.
static DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| "default".into());

/// What is asked of a policy.
pub(crate) struct Asked<'a> {
    pub(crate) principal: &'a str,
    /// All roles of the principal.
    pub(crate) roles: &'a [&'a str],
    pub(crate) subject: Subject<'a>,
    pub(crate) hints: Option<Hints>,
    pub(crate) source: Option<&'a str>,
    pub(crate) client: Option<&'a str>,
    /// The named view that the call came in by.
    pub(crate) profile: Option<&'a str>,
}

/// What a policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) effect: Effect,
    pub(crate) by: By,
    pub(crate) reason: Option<Arc<str>>,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    Rule(Arc<str>),
    Default,
    /// What the principal may use does not hold it.
    Bound,
    /// The view of this name does not hold it.
    Profile(String),
}

impl By {
    /// As records and explanations name it.
    pub(crate) fn name(&self) -> Arc<str> {
        match self {
            Self::Rule(name) => Arc::clone(name),
            Self::Default => Arc::clone(&DEFAULT),
            Self::Bound => "may_use".into(),
            Self::Profile(name) => format!("profile {name}").into(),
        }
    }
}

/// How a rule stands to what is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    Matches,
    /// Its condition cannot be told, and it holds back, so it counts.
    MatchesUntold(String),
    OtherTarget,
    OtherPrincipal,
    OtherSource,
    OtherHint(&'static str),
    ConditionFalse,
    /// Its condition cannot be told, and it lets through, so it does not count.
    Untold(String),
}

impl Fit {
    pub(crate) fn matches(&self) -> bool {
        matches!(self, Self::Matches | Self::MatchesUntold(_))
    }
}

impl Compiled {
    /// Decides on a call.
    pub(crate) fn decide(&self, asked: &Asked<'_>, arguments: &Arguments<'_>) -> Decision {
        self.memo.recall(
            asked,
            || self.possible(asked),
            |possible| match possible {
                Possible::Beyond(by) => Decision { effect: Effect::Deny, by: by.clone(), reason: None },
                Possible::Rules(places) => {
                    let mut rules = places.iter().filter_map(|place| self.rules.get(*place));
                    let decides = rules.find(|rule| rule.condition(asked, arguments).matches());
                    decides.map_or_else(|| self.otherwise(), Rule::decision)
                }
            },
        )
    }

    /// What it says before the arguments are looked at.
    fn possible(&self, asked: &Asked<'_>) -> Possible {
        if let Some(by) = self.out_of_bounds(asked) {
            return Possible::Beyond(by);
        }
        let mut places = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            if rule.fits_but_for_condition(asked).is_none() {
                places.push(place);
                if rule.when.is_none() {
                    break;
                }
            }
        }
        Possible::Rules(places.into())
    }

    /// The rules that are tried on a call, up to the first that matches, and how each stands to it.
    pub(crate) fn tried(&self, asked: &Asked<'_>, arguments: &Arguments<'_>) -> Vec<(&Rule, Fit)> {
        let mut tried = Vec::new();
        if self.out_of_bounds(asked).is_some() {
            return tried;
        }
        for rule in &self.rules {
            let fit = rule.fits_but_for_condition(asked).unwrap_or_else(|| rule.condition(asked, arguments));
            let matches = fit.matches();
            tried.push((rule, fit));
            if matches {
                break;
            }
        }
        tried
    }

    /// What it says where no rule matches.
    fn otherwise(&self) -> Decision {
        Decision { effect: self.default, by: By::Default, reason: None }
    }

    /// Whether any arguments could pass.
    pub(crate) fn shows(&self, asked: &Asked<'_>) -> bool {
        if self.out_of_bounds(asked).is_some() {
            return false;
        }
        for rule in self.rules.iter().filter(|rule| rule.fits_but_for_condition(asked).is_none()) {
            match (rule.then, &rule.when) {
                (Effect::Allow | Effect::Ask, _) => return true,
                (Effect::Deny, None) => return false,
                // Some arguments may get past it.
                (Effect::Deny, Some(_)) => {}
            }
        }
        self.default != Effect::Deny
    }

    /// Lists and views bound what anyone may ever use; rules decide within.
    pub(crate) fn out_of_bounds(&self, asked: &Asked<'_>) -> Option<By> {
        // A task belongs to its principal; the call that began it has passed.
        if asked.subject.kind == "task" {
            return None;
        }
        let person = self.principals.get(asked.principal);
        if !self.within_lists(asked) {
            return Some(By::Bound);
        }
        let profile = asked.profile.or_else(|| person.and_then(|person| person.profile.as_deref()))?;
        // A view that is gone shows nothing.
        let has = self.profiles.get(profile).is_some_and(|profile| profile.has(&asked.subject));
        (!has).then(|| By::Profile(profile.to_owned()))
    }

    fn within_lists(&self, asked: &Asked<'_>) -> bool {
        let own = self.principals.get(asked.principal).and_then(|person| person.may_use.as_ref());
        let of_roles = asked.roles.iter().filter_map(|role| self.roles.get(*role)?.as_ref());
        let mut lists = own.into_iter().chain(of_roles).peekable();
        lists.peek().is_none() || lists.any(|list| list.fit(&asked.subject, Sure::Every))
    }
}

impl Rule {
    /// What it says when it matches.
    fn decision(&self) -> Decision {
        Decision { effect: self.then, by: By::Rule(Arc::clone(&self.name)), reason: self.reason.clone() }
    }

    /// How it stands to a call that fits it but for its condition.
    fn condition(&self, asked: &Asked<'_>, arguments: &Arguments<'_>) -> Fit {
        let Some(when) = &self.when else { return Fit::Matches };
        let facts = Facts {
            principal: asked.principal,
            roles: asked.roles,
            target: asked.subject.name,
            kind: asked.subject.kind,
            source: asked.source.unwrap_or_default(),
            client: asked.client.unwrap_or_default(),
            arguments,
        };
        match (when.holds(&facts), self.then) {
            (Ok(true), _) => Fit::Matches,
            (Ok(false), _) => Fit::ConditionFalse,
            (Err(why), Effect::Allow) => Fit::Untold(why),
            (Err(why), Effect::Ask | Effect::Deny) => Fit::MatchesUntold(why),
        }
    }

    /// The first thing besides its condition that keeps it from matching.
    fn fits_but_for_condition(&self, asked: &Asked<'_>) -> Option<Fit> {
        let sure = match self.then {
            Effect::Allow => Sure::Every,
            // A template of which some URIs are asked about is shown.
            Effect::Ask if asked.subject.beginning.is_some() => Sure::Every,
            Effect::Ask | Effect::Deny => Sure::Any,
        };
        if self.targets.as_ref().is_some_and(|targets| !targets.fit(&asked.subject, sure)) {
            return Some(Fit::OtherTarget);
        }
        if !is_meant(self.who.as_deref(), asked.principal, asked.roles) {
            return Some(Fit::OtherPrincipal);
        }
        if self.source.as_ref().is_some_and(|glob| !asked.source.is_some_and(|source| glob.fits(source))) {
            return Some(Fit::OtherSource);
        }
        self.hints.unmet(asked.hints).map(Fit::OtherHint)
    }
}

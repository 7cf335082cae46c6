//! A policy as it is in force: read once, asked for every call.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgate_core::Hints;

use crate::condition::Condition;
use crate::config::Effect;
use crate::glob::Glob;
use crate::memo::Memo;
use crate::principal::Who;
use crate::target::{Subject, Sure, TargetPattern};

/// A policy as it is in force.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) default: Effect,
    pub(crate) rules: Vec<Rule>,
    pub(crate) principals: BTreeMap<String, Person>,
    pub(crate) roles: BTreeMap<String, Option<Patterns>>,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) version: Arc<str>,
    pub(crate) warnings: Vec<String>,
    pub(crate) memo: Memo,
}

impl Compiled {
    /// A word that is another one for other rules.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// The names of its rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| &*rule.name)
    }

    /// The names of its profiles, with what each is for.
    pub fn profiles(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.profiles.iter().map(|(name, profile)| (name.as_str(), profile.description.as_deref()))
    }

    /// What looks like a mistake but may be meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// All roles of a principal: those that its token brings along, and those that are configured.
    pub(crate) fn roles_of<'a>(&'a self, principal: &str, token: &'a [Arc<str>]) -> Vec<&'a str> {
        let known = self.principals.get(principal).map_or(&[][..], |person| &person.roles);
        if token.is_empty() && known.is_empty() {
            return Vec::new();
        }
        let mut roles: Vec<&str> =
            token.iter().map(|role| &**role).chain(known.iter().map(String::as_str)).collect();
        roles.sort_unstable();
        roles.dedup();
        roles
    }
}

/// Patterns of targets, of which one has to fit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(pub(crate) Vec<TargetPattern>);

impl Patterns {
    pub(crate) fn fit(&self, subject: &Subject<'_>, sure: Sure) -> bool {
        self.0.iter().any(|pattern| pattern.fits(subject, sure))
    }
}

/// What is known of a principal.
#[derive(Debug, Default)]
pub(crate) struct Person {
    pub(crate) roles: Vec<String>,
    pub(crate) may_use: Option<Patterns>,
    pub(crate) profile: Option<String>,
}

/// A named view.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) description: Option<String>,
    pub(crate) shows: Option<Patterns>,
    pub(crate) hides: Patterns,
    pub(crate) search: Option<bool>,
}

impl Profile {
    pub(crate) fn has(&self, subject: &Subject<'_>) -> bool {
        self.shows.as_ref().is_none_or(|shows| shows.fit(subject, Sure::Every))
            && !self.hides.fit(subject, Sure::Any)
    }
}

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: Arc<str>,
    pub(crate) then: Effect,
    pub(crate) who: Option<Vec<Who>>,
    pub(crate) targets: Option<Patterns>,
    pub(crate) source: Option<Glob>,
    pub(crate) hints: WantedHints,
    pub(crate) when: Option<Condition>,
    pub(crate) reason: Option<Arc<str>>,
}

/// What a tool has to say of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WantedHints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

impl WantedHints {
    /// The first that is not as wanted. Only tools say anything of themselves.
    pub(crate) fn unmet(self, hints: Option<Hints>) -> Option<&'static str> {
        let wanted = [
            ("read_only", self.read_only, hints.map(|hints| hints.read_only)),
            ("destructive", self.destructive, hints.map(|hints| hints.destructive)),
            ("idempotent", self.idempotent, hints.map(|hints| hints.idempotent)),
            ("open_world", self.open_world, hints.map(|hints| hints.open_world)),
        ];
        wanted.into_iter().find(|(_, wanted, is)| wanted.is_some() && wanted != is).map(|(name, _, _)| name)
    }
}

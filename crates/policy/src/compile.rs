//! Tables as they are written become a policy in force, or all that is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::compiled::{Compiled, Patterns, Person, Profile, Rule, WantedHints};
use crate::condition::Condition;
use crate::config::{PolicyConfig, PrincipalConfig, ProfileConfig, RoleConfig, RuleConfig};
use crate::error::{Faults, PolicyError, quoted};
use crate::glob::Glob;
use crate::memo::Memo;
use crate::principal::Who;
use crate::suggest::{did_you_mean, nearest, shown};
use crate::target::TargetPattern;

/// The tables that make up a policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    /// `[policy]`.
    pub policy: &'a PolicyConfig,
    /// `[principals.NAME]`.
    pub principals: &'a BTreeMap<String, PrincipalConfig>,
    /// `[roles.NAME]`.
    pub roles: &'a BTreeMap<String, RoleConfig>,
    /// `[profiles.NAME]`.
    pub profiles: &'a BTreeMap<String, ProfileConfig>,
}

/// Names that exist outside of the policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Every source there may be, also those that are off. Without any, names of sources are not checked.
    pub sources: &'a [&'a str],
}

impl Policy<'_> {
    /// Reads the tables.
    ///
    /// # Errors
    /// All that is wrong with them, by key.
    pub fn load(&self, known: &Known<'_>) -> Result<Compiled, PolicyError> {
        let mut load = Load { policy: self, known, faults: Faults::default(), warnings: Vec::new() };
        let rules = load.rules();
        let compiled = Compiled {
            default: self.policy.default,
            rules,
            principals: load.principals(),
            roles: load.roles(),
            profiles: load.profiles(),
            version: self.version(),
            warnings: load.warnings,
            memo: Memo::default(),
        };
        load.faults.or(compiled)
    }

    fn version(&self) -> Arc<str> {
        let all = (self.policy, self.principals, self.roles, self.profiles);
        digest(&serde_json::to_vec(&all).unwrap_or_default(), 8).into()
    }
}

struct Load<'a> {
    policy: &'a Policy<'a>,
    known: &'a Known<'a>,
    faults: Faults,
    warnings: Vec<String>,
}

impl Load<'_> {
    fn rules(&mut self) -> Vec<Rule> {
        let mut names = BTreeSet::new();
        let rules = &self.policy.policy.rules;
        rules
            .iter()
            .enumerate()
            .map(|(place, rule)| {
                let key = format!("policy.rules[{place}]");
                if let Some(name) = &rule.name {
                    self.name_of_rule(&key, name, names.insert(name));
                }
                self.rule(&key, rule)
            })
            .collect()
    }

    fn name_of_rule(&mut self, key: &str, name: &str, new: bool) {
        let key = format!("{key}.name");
        if name.trim().is_empty() || name.chars().any(char::is_control) || name.len() > 64 {
            let message = format!("is `{}`, which is no name", shown(name));
            self.faults.add(key, message, "use 1 to 64 visible characters");
        } else if ["default", "may_use"].contains(&name) {
            self.faults.add(
                key,
                format!("is `{name}`, which stands for something else"),
                "choose another name",
            );
        } else if !new {
            let message = format!("is `{name}`, as of a rule before it");
            self.faults.add(key, message, "records name the rule that decided: choose another name");
        }
    }

    fn rule(&mut self, key: &str, rule: &RuleConfig) -> Rule {
        let targets = self.patterns(&format!("{key}.targets"), rule.targets.as_deref());
        let who = self.who(&format!("{key}.principals"), rule.principals.as_deref());
        self.source(&format!("{key}.source"), rule.source.as_deref());
        let when = rule.when.as_deref().and_then(|text| {
            Condition::compile(text)
                .map_err(|bad| self.faults.add(format!("{key}.when"), bad.message, bad.hint))
                .ok()
        });
        Rule {
            name: label(rule),
            then: rule.then,
            who,
            targets,
            source: rule.source.as_deref().map(Glob::new),
            hints: WantedHints {
                read_only: rule.read_only,
                destructive: rule.destructive,
                idempotent: rule.idempotent,
                open_world: rule.open_world,
            },
            when,
            reason: rule.reason.as_deref().map(Into::into),
        }
    }

    fn source(&mut self, key: &str, source: Option<&str>) {
        let Some(source) = source else { return };
        let known = self.known.sources;
        if !known.is_empty() && !source.contains('*') && !known.contains(&source) {
            let hint = did_you_mean(source, known.iter().copied(), "`toolgate status` lists the sources");
            self.faults.add(key, format!("is `{}`, which is no source", shown(source)), hint);
        }
    }

    fn patterns(&mut self, key: &str, list: Option<&[String]>) -> Option<Patterns> {
        let list = list?;
        let mut patterns = Vec::new();
        for (place, text) in list.iter().enumerate() {
            match text.parse::<TargetPattern>() {
                Ok(pattern) => patterns.push(pattern),
                Err(bad) => {
                    let message = format!("is no pattern: {}", bad.message);
                    self.faults.add(format!("{key}[{place}]"), message, bad.hint);
                }
            }
        }
        Some(Patterns(patterns))
    }

    fn who(&mut self, key: &str, list: Option<&[String]>) -> Option<Vec<Who>> {
        let list = list?;
        for (place, text) in list.iter().enumerate() {
            let key = format!("{key}[{place}]");
            match text.strip_prefix("role:") {
                Some(role) if !role.contains('*') => self.role(&key, role),
                Some(_) => {}
                None => self.principal(&key, text),
            }
        }
        Some(list.iter().map(|text| Who::new(text)).collect())
    }

    /// A rule about a role that nobody has would never match, which is bad in a rule that denies.
    fn role(&mut self, key: &str, role: &str) {
        if self.policy.roles.contains_key(role) {
            return;
        }
        let otherwise = format!("add `[roles.{}]`, be it empty", quoted(role));
        let hint = did_you_mean(role, self.policy.roles.keys().map(String::as_str), &otherwise);
        self.faults.add(key, format!("names the role `{}`, which does not exist", shown(role)), hint);
    }

    /// Tokens bring principals that no table names, so that one more is no mistake, unless it looks like one.
    fn principal(&mut self, key: &str, name: &str) {
        let known = &self.policy.principals;
        if name.contains('*') || known.contains_key(name) {
            return;
        }
        if let Some(near) = nearest(name, known.keys().map(String::as_str)) {
            self.warnings.push(format!("`{key}` is `{}`; did you mean `{near}`?", shown(name)));
        }
    }

    fn principals(&mut self) -> BTreeMap<String, Person> {
        let all = self.policy.principals.iter();
        all.map(|(name, config)| {
            let key = format!("principals.{}", quoted(name));
            for (place, role) in config.roles.iter().enumerate() {
                self.role(&format!("{key}.roles[{place}]"), role);
            }
            if let Some(profile) = &config.profile
                && !self.policy.profiles.contains_key(profile)
            {
                let otherwise = format!("add `[profiles.{}]`", quoted(profile));
                let hint = did_you_mean(profile, self.policy.profiles.keys().map(String::as_str), &otherwise);
                let message = format!("is `{}`, which is no profile", shown(profile));
                self.faults.add(format!("{key}.profile"), message, hint);
            }
            let may_use = self.patterns(&format!("{key}.may_use"), config.may_use.as_deref());
            let person = Person { roles: config.roles.clone(), may_use, profile: config.profile.clone() };
            (name.clone(), person)
        })
        .collect()
    }

    fn roles(&mut self) -> BTreeMap<String, Option<Patterns>> {
        let all = self.policy.roles.iter();
        all.map(|(name, config)| {
            let key = format!("roles.{}.may_use", quoted(name));
            (name.clone(), self.patterns(&key, config.may_use.as_deref()))
        })
        .collect()
    }

    fn profiles(&mut self) -> BTreeMap<String, Profile> {
        let all = self.policy.profiles.iter();
        all.map(|(name, config)| {
            let key = format!("profiles.{}", quoted(name));
            if !fits_a_path(name) {
                let hint = "it is a part of an address: use letters, digits, `-` and `_`";
                self.faults.add(&key, "is no name for a profile", hint);
            }
            let shows = self.patterns(&format!("{key}.shows"), config.shows.as_deref());
            let hides = self.patterns(&format!("{key}.hides"), Some(&config.hides)).unwrap_or_default();
            let (description, search) = (config.description.clone(), config.search);
            (name.clone(), Profile { description, shows, hides, search })
        })
        .collect()
    }
}

fn fits_a_path(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// The name of a rule; one without is named by what it says, so that it keeps its name wherever it stands.
fn label(rule: &RuleConfig) -> Arc<str> {
    if let Some(name) = &rule.name {
        return name.as_str().into();
    }
    let content = RuleConfig { reason: None, ..rule.clone() };
    format!("{}-{}", rule.then.as_str(), digest(&serde_json::to_vec(&content).unwrap_or_default(), 4)).into()
}

/// The beginning of a digest, as text.
pub(crate) fn digest(bytes: &[u8], length: usize) -> String {
    Sha256::digest(bytes).iter().take(length).map(|byte| format!("{byte:02x}")).collect()
}

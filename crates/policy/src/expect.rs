//! A file of expectations: what a policy has to say of certain calls.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toolgate_core::{CompletionRef, Error, Hints, Kind, Target, TaskOp};
use toolgate_wire::Raw;

use crate::compiled::Compiled;
use crate::config::Effect;
use crate::explain::{Explanation, Question};
use crate::suggest::{did_you_mean, shown};
use crate::target::KINDS;

/// A file of expectations.
#[derive(Debug)]
pub struct Expectations {
    all: Vec<Expectation>,
}

/// What is known of a tool, for expectations that do not say it themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFacts {
    /// What it says of itself.
    pub hints: Hints,
    /// Where it comes from.
    pub source: String,
}

#[derive(Debug)]
struct Expectation {
    line: usize,
    written: Written,
    target: Target,
    args: Raw,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    expect: Vec<Spanned<Written>>,
}

/// One expectation as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    principal: String,
    #[serde(default)]
    roles: Vec<String>,
    target: String,
    #[serde(default)]
    args: toml::Table,
    profile: Option<String>,
    client: Option<String>,
    source: Option<String>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    gives: Gives,
    rule: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Gives {
    Allow,
    Ask,
    Deny,
    /// Denied whatever the arguments, so not even listed.
    Hidden,
}

/// What became of a file of expectations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many there are.
    pub expectations: usize,
    /// Those that the policy does not meet.
    pub failures: Vec<Failure>,
}

/// An expectation that the policy does not meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The line it begins at.
    pub line: usize,
    /// What was expected and what is, in words.
    pub message: String,
    /// Why it is so.
    pub explanation: Explanation,
}

/// Why a file of expectations cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}\nhint: {hint}")]
pub struct Unreadable {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Expectations {
    /// Reads a file of expectations, a list of `[[expect]]` tables.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let file: File = toml::from_str(text).map_err(|error| {
            let hint = "an expectation has `principal`, `target` and `gives`, and may have `args`, `roles`, `profile`, `client`, `source`, `rule` and the annotations";
            unreadable(text, error.span().unwrap_or(0..0), error.message(), hint)
        })?;
        let all = file.expect.into_iter().map(|written| Expectation::new(text, written));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() {
            return Err(unreadable(text, 0..0, "there is no expectation", "write a table `[[expect]]`"));
        }
        Ok(Self { all })
    }

    /// Asks the policy for each. What a tool says of itself comes from `tools`, unless the expectation says it.
    pub fn run(&self, policy: &Compiled, tools: impl Fn(&str) -> Option<ToolFacts>) -> Report {
        let failures =
            self.all.iter().filter_map(|expectation| expectation.failure(policy, &tools)).collect();
        Report { expectations: self.all.len(), failures }
    }
}

impl Expectation {
    fn new(text: &str, written: Spanned<Written>) -> Result<Self, Unreadable> {
        let span = written.span();
        let written = written.into_inner();
        let target = read_target(&written.target).map_err(|bad| {
            unreadable(text, span.clone(), bad.message(), bad.next_step().unwrap_or_default())
        })?;
        Ok(Self { line: position(text, span.start).0, target, args: Raw::of(&written.args), written })
    }

    fn failure(&self, policy: &Compiled, tools: &impl Fn(&str) -> Option<ToolFacts>) -> Option<Failure> {
        let facts = matches!(self.target, Target::Tool(_)).then(|| tools(self.target.name())).flatten();
        let written = &self.written;
        let roles: Vec<Arc<str>> = written.roles.iter().map(|role| role.as_str().into()).collect();
        let question = Question {
            roles: &roles,
            args: self.args.clone(),
            hints: matches!(self.target, Target::Tool(_)).then(|| self.hints(facts.as_ref())),
            source: written.source.as_deref().or(facts.as_ref().map(|facts| facts.source.as_str())),
            client: written.client.as_deref(),
            profile: written.profile.as_deref(),
            ..Question::new(&written.principal, &self.target)
        };
        let explanation = policy.explain(&question);
        let message = self.unmet(&explanation)?;
        Some(Failure { line: self.line, message, explanation })
    }

    fn hints(&self, facts: Option<&ToolFacts>) -> Hints {
        let (known, written) = (facts.map(|facts| facts.hints).unwrap_or_default(), &self.written);
        Hints {
            read_only: written.read_only.unwrap_or(known.read_only),
            destructive: written.destructive.unwrap_or(known.destructive),
            idempotent: written.idempotent.unwrap_or(known.idempotent),
            open_world: written.open_world.unwrap_or(known.open_world),
        }
    }

    fn unmet(&self, explanation: &Explanation) -> Option<String> {
        let is = explanation.gives;
        let met = match self.written.gives {
            Gives::Allow => is == Effect::Allow,
            Gives::Ask => is == Effect::Ask,
            Gives::Deny => is == Effect::Deny,
            Gives::Hidden => !explanation.listed,
        };
        let (who, what) = (shown(&self.written.principal), shown(&explanation.target));
        let expected = match self.written.gives {
            Gives::Allow => "allow",
            Gives::Ask => "ask",
            Gives::Deny => "deny",
            Gives::Hidden => "hidden",
        };
        if !met {
            let is = if explanation.listed { is.as_str() } else { "hidden" };
            return Some(format!("`{who}` and `{what}` give {is} by `{}`, not {expected}", explanation.rule));
        }
        let rule = self.written.rule.as_ref().filter(|rule| **rule != explanation.rule)?;
        let by = &explanation.rule;
        Some(format!("`{who}` and `{what}` give {expected} by `{by}`, not by `{}`", shown(rule)))
    }
}

impl Report {
    /// Whether all expectations are met.
    pub fn is_met(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "line {}: {}", failure.line, failure.message)?;
        }
        let met = self.expectations - self.failures.len();
        writeln!(f, "{met} of {} expectations are met", self.expectations)
    }
}

/// Reads a target as commands and expectations write it: a tool's name, or `kind:name`.
///
/// # Errors
/// It is none.
pub fn read_target(text: &str) -> Result<Target, Error> {
    let (kind, name) = text.split_once(':').unwrap_or(("tool", text));
    match kind {
        "tool" => name.parse().map(Target::Tool),
        "resource" => Ok(Target::Resource(name.into())),
        "prompt" => Ok(Target::Prompt(name.into())),
        "completion" if name.contains("://") => Ok(Target::Completion(CompletionRef::Resource(name.into()))),
        "completion" => Ok(Target::Completion(CompletionRef::Prompt(name.into()))),
        "subscription" => Ok(Target::Subscribe(name.into())),
        "task" => Ok(Target::Task(TaskOp::Get, name.into())),
        "method" => Ok(Target::Method(name.into())),
        kind => {
            let kinds = KINDS.into_iter().filter(|kind| *kind != "*");
            let hint = did_you_mean(kind, kinds, "write a tool's name, or a kind, `:` and a name");
            Err(Error::new(Kind::InvalidInput, format!("`{}` is of no kind that exists", shown(text)))
                .hint(hint))
        }
    }
}

fn unreadable(text: &str, span: Range<usize>, message: &str, hint: &str) -> Unreadable {
    let (line, column) = position(text, span.start);
    Unreadable { line, column, message: message.replace('\n', " "), hint: hint.to_owned() }
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

//! Which targets a pattern means, and in which spellings a target is looked at.

mod spelling;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use toolgate_core::{CompletionRef, Target};

use crate::glob::Glob;
use crate::suggest::did_you_mean;

pub(crate) use spelling::plain_uri;

/// The kinds that a pattern can begin with.
pub(crate) const KINDS: [&str; 8] =
    ["tool", "resource", "prompt", "completion", "subscription", "task", "method", "*"];

/// What a rule is asked about: a kind, and a name in each spelling that a source may take for the same.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'a> {
    pub(crate) kind: &'static str,
    /// The kind that it belongs to: a subscription to a resource is of that resource.
    pub(crate) of: Option<&'static str>,
    pub(crate) name: &'a str,
    /// The name as a source may read it, where that differs.
    pub(crate) plain: Option<String>,
    /// For a template of URIs: what all of them begin with.
    pub(crate) beginning: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// What a call is for.
    pub(crate) fn of(target: &'a Target) -> Self {
        let name = target.name();
        let of = match target {
            Target::Completion(CompletionRef::Prompt(_)) => Some("prompt"),
            Target::Completion(CompletionRef::Resource(_))
            | Target::Subscribe(_)
            | Target::Unsubscribe(_) => Some("resource"),
            Target::Tool(_)
            | Target::Resource(_)
            | Target::Prompt(_)
            | Target::Task(..)
            | Target::Method(_) => None,
        };
        let kind = target.kind();
        let plain = if kind == "resource" || of == Some("resource") { plain_uri(name) } else { None };
        Self { kind, of, name, plain, beginning: None }
    }

    /// Something that is listed.
    pub(crate) fn listed(kind: &'static str, name: &'a str) -> Self {
        let plain = if kind == "resource" { plain_uri(name) } else { None };
        Self { kind, of: None, name, plain, beginning: None }
    }

    /// A template of URIs.
    pub(crate) fn template(text: &'a str) -> Self {
        let beginning = text.split('{').next().filter(|head| head.len() < text.len());
        Self { kind: "resource", of: None, name: text, plain: None, beginning }
    }

    /// The target as a command writes it.
    pub(crate) fn shown(&self) -> Cow<'a, str> {
        if self.kind == "tool" { self.name.into() } else { format!("{}:{}", self.kind, self.name).into() }
    }
}

/// How sure a pattern has to be, where a name can be read in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sure {
    /// It has to fit every spelling: for what lets through.
    Every,
    /// It has to fit one: for what holds back.
    Any,
}

/// A pattern of targets: `workspace_*`, `resource:file:///etc/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetPattern {
    kind: &'static str,
    glob: Glob,
}

impl TargetPattern {
    pub(crate) fn fits(&self, subject: &Subject<'_>, sure: Sure) -> bool {
        let of_kind = self.kind == "*" || self.kind == subject.kind || Some(self.kind) == subject.of;
        of_kind && self.fits_name(subject, sure)
    }

    fn fits_name(&self, subject: &Subject<'_>, sure: Sure) -> bool {
        if let Some(beginning) = subject.beginning {
            // A template is let through if one of its URIs might be, and held back only if all of them are.
            return match sure {
                Sure::Every => self.glob.may_fit_after(beginning),
                Sure::Any => self.glob.fits_all_after(beginning),
            };
        }
        let as_written = self.glob.fits(subject.name);
        let Some(plain) = &subject.plain else { return as_written };
        match sure {
            Sure::Every => as_written && self.glob.fits(plain),
            Sure::Any => as_written || self.glob.fits(plain),
        }
    }
}

/// Why a pattern is none: what is wrong, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadPattern {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl FromStr for TargetPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let (kind, name) = text.split_once(':').unwrap_or(("tool", text));
        if name.is_empty() {
            return Err(BadPattern {
                message: format!("`{text}` names nothing"),
                hint: "write a name, or `*` for all of them".into(),
            });
        }
        let Some(kind) = KINDS.into_iter().find(|known| *known == kind) else {
            let or = "a pattern is a tool's name, or begins with `tool:`, `resource:`, `prompt:`, `completion:`, `subscription:`, `task:`, `method:` or `*:`";
            return Err(BadPattern {
                message: format!("`{text}` is of no kind that exists"),
                hint: did_you_mean(kind, KINDS.into_iter().filter(|kind| *kind != "*"), or),
            });
        };
        Ok(Self { kind, glob: Glob::new(name) })
    }
}

impl fmt::Display for TargetPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == "tool" { self.glob.fmt(f) } else { write!(f, "{}:{}", self.kind, self.glob) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_kinds_and_names() {
        #[track_caller]
        fn check(pattern: &str, target: &Target, expect: bool) {
            let pattern: TargetPattern = pattern.parse().unwrap();
            assert_eq!(pattern.fits(&Subject::of(target), Sure::Every), expect, "{pattern} {target:?}");
        }
        let tool = Target::Tool("workspace_read".parse().unwrap());
        let resource = Target::Resource("file:///a".into());
        let watch = Target::Subscribe("file:///a".into());
        let complete = Target::Completion(CompletionRef::Prompt("greet".into()));
        check("workspace_*", &tool, true);
        check("tool:workspace_*", &tool, true);
        check("*", &tool, true);
        check("*", &resource, false);
        check("*:*", &resource, true);
        check("resource:file:///*", &resource, true);
        check("resource:file:///*", &watch, true);
        check("subscription:file:///*", &watch, true);
        check("subscription:file:///*", &resource, false);
        check("prompt:greet", &complete, true);
        check("completion:greet", &complete, true);
        check("prompt:greet", &Target::Prompt("greet".into()), true);
        check("completion:*", &Target::Prompt("greet".into()), false);
        check("method:x/*", &Target::Method("x/y".into()), true);
    }

    #[test]
    fn a_pattern_of_no_kind_is_refused_with_the_nearest() {
        let bad = |text: &str| text.parse::<TargetPattern>().unwrap_err();
        assert_eq!(bad("resorce:file:///*").hint, "did you mean `resource`?");
        assert_eq!(bad("").message, "`` names nothing");
        assert!(bad("file:///etc/*").hint.starts_with("a pattern is a tool's name"));
    }

    #[test]
    fn a_uri_that_can_be_read_in_two_ways_is_held_back_by_either() {
        let pattern: TargetPattern = "resource:file:///etc/*".parse().unwrap();
        let fits = |uri: &str, sure| pattern.fits(&Subject::of(&Target::Resource(uri.into())), sure);
        for uri in
            ["file:///docs/../etc/passwd", "FILE:///etc/passwd", "file:///%65tc/passwd", "file:///./etc/x"]
        {
            assert!(fits(uri, Sure::Any), "{uri}");
            assert!(!fits(uri, Sure::Every), "{uri}");
        }
        assert!(fits("file:///etc/passwd", Sure::Every));
        // Written as allowed, read as something else: not let through.
        assert!(!fits("file:///etc/../srv/x", Sure::Every) && fits("file:///etc/../srv/x", Sure::Any));
    }
}

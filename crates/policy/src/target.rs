//! Which targets a pattern means, and in which spellings a target is looked at.

mod spelling;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use toolgate_core::{CompletionRef, Target};

use crate::glob::Glob;
use crate::suggest::did_you_mean;

use spelling::{Readings, plain_pattern, readings};

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
    /// How else a source may read the name, if it is a URI.
    readings: Option<Readings>,
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
        let readings = (kind == "resource" || of == Some("resource")).then(|| readings(name));
        Self { kind, of, name, readings, beginning: None }
    }

    /// Something that is listed.
    pub(crate) fn listed(kind: &'static str, name: &'a str) -> Self {
        let readings = (kind == "resource").then(|| readings(name));
        Self { kind, of: None, name, readings, beginning: None }
    }

    /// A template of URIs.
    pub(crate) fn template(text: &'a str) -> Self {
        let beginning = text.split('{').next().filter(|head| head.len() < text.len());
        Self { kind: "resource", of: None, name: text, readings: None, beginning }
    }

    /// The target as a command writes it.
    pub(crate) fn shown(&self) -> Cow<'a, str> {
        if self.kind == "tool" { self.name.into() } else { format!("{}:{}", self.kind, self.name).into() }
    }
}

/// How sure a pattern has to be, where a name can be read in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sure {
    /// It has to fit every reading: for what lets through.
    Every,
    /// It has to fit one, also of less than the whole: for what holds back.
    Any,
}

/// A pattern of targets: `workspace_*`, `resource:file:///etc/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetPattern {
    kind: &'static str,
    glob: Glob,
    /// The same as URIs are read, where that differs: hosts are alike in upper and lower case, and `%20` is a space.
    plain: Option<Glob>,
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
        let Some(Readings { whole, less }) = &subject.readings else { return as_written };
        match sure {
            Sure::Every => as_written && whole.iter().all(|uri| self.fits_uri(uri)),
            Sure::Any => {
                self.fits_uri(subject.name) || whole.iter().chain(less).any(|uri| self.fits_uri(uri))
            }
        }
    }

    fn fits_uri(&self, uri: &str) -> bool {
        self.glob.fits(uri) || self.plain.as_ref().is_some_and(|glob| glob.fits(uri))
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
        let plain = Some(plain_pattern(name)).filter(|plain| plain != name);
        Ok(Self { kind, glob: Glob::new(name), plain: plain.as_deref().map(Glob::new) })
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
        for uri in [
            "file:///docs/../etc/passwd",
            "FILE:///etc/passwd",
            "file:///%65tc/passwd",
            "file:///./etc/x",
            "file:///e\ttc/passwd",
            " file:///etc/passwd",
            "file:/etc/passwd",
            "file://localhost/etc/passwd",
        ] {
            assert!(fits(uri, Sure::Any), "{uri}");
            assert!(!fits(uri, Sure::Every), "{uri}");
        }
        assert!(fits("file:///etc/passwd", Sure::Every));
        // Written as allowed, read as something else: not let through.
        assert!(!fits("file:///etc/../srv/x", Sure::Every) && fits("file:///etc/../srv/x", Sure::Any));
    }

    #[test]
    fn heads_and_ends_of_uris_are_no_way_around_a_pattern() {
        #[track_caller]
        fn check(pattern: &str, uri: &str, (every, any): (bool, bool)) {
            let (pattern, target) = (pattern.parse::<TargetPattern>().unwrap(), Target::Resource(uri.into()));
            let fits = |sure| pattern.fits(&Subject::of(&target), sure);
            assert_eq!((fits(Sure::Every), fits(Sure::Any)), (every, any), "{pattern} {uri:?}");
        }
        check("resource:config://secret", "config://secret?x", (false, true));
        check("resource:config://secret", "config://sec\tret", (false, true));
        check("resource:config://secret?x", "config://secret?x", (true, true));
        check("resource:config://secret", "config://docs/../secret", (false, true));
        check("resource:config://secret*", "config://docs/../secret/a", (false, true));
        check("resource:config://docs/*", "config://docs/../secret", (true, true));
        check("resource:file:///etc/*", "file://anything/etc/passwd", (false, true));
        check("resource:file://share/*", "file://share/etc/passwd", (true, true));
        check("resource:file:///docs/*", "file:///docs/.\t./.\t./etc/passwd", (false, true));
        check("resource:file:///docs/*", "file:///docs/../etc/passwd?/../../docs/x", (false, true));
        check("resource:file:///docs/*", "file:///docs/a b?c#d", (true, true));
        // A pattern and a URI that are written alike fit, whatever the spelling.
        check("resource:docs://README", "docs://README", (true, true));
        check("resource:docs://README", "docs://readme", (false, true));
        check("resource:docs://readme", "docs://README", (false, true));
        check("resource:https://A.example:443/*", "https://A.example:443/b", (true, true));
        check("resource:https://A.example:443/*", "https://a.example/b", (false, true));
        check("resource:https://a.example/*", "https://me@A.example:443/b", (false, true));
        check("resource:file://localhost/docs/*", "file://localhost/docs/a", (true, true));
        check("*:file:/docs/*", "file:/docs/a", (true, true));
        // Neither is an encoded pattern.
        check("resource:file:///My%20Docs/*", "file:///My%20Docs/a", (true, true));
        check("resource:file:///My%20Docs/*", "file:///My Docs/a", (false, true));
        check("resource:file:///My%20Docs/*", "file:///My%20Docs/../a", (false, true));
        check("resource:note:%2a", "note:%2a", (false, true));
        check("resource:note:%2a", "note:b", (false, false));
    }
}

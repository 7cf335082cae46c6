//! What differs between two definitions of a tool, part by part.

use std::borrow::Cow;
use std::collections::BTreeMap;

use similar::TextDiff;
use toolgate_core::{pretty_start, visible};
use toolgate_wire::{Raw, Text, canonical};

use super::report::{Finding, Part, Severity};

/// The longest text of which a diff is made.
const LONGEST: usize = 64 * 1024;

/// What differs, gravest first. Two texts are compared and not two values: numbers that no type can tell apart differ,
/// as they do for the digest.
pub(super) fn differences(old: &Raw, new: &Raw) -> Vec<Finding> {
    // The order of keys means nothing, and would only fill a diff.
    let (old, new) = (&canonical(old), &canonical(new));
    let mut found = Vec::new();
    let both = |key: &str| (old.get(key), new.get(key));
    let (old_words, new_words) = both("description");
    if old_words != new_words {
        found.push(finding(Part::Description, Severity::High, old_words, new_words));
    }
    let (old_schema, new_schema) = (only(old, is_schema), only(new, is_schema));
    if old_schema != new_schema {
        // Words in a schema go to the model like any others.
        let words = words_of(&old_schema) != words_of(&new_schema);
        let severity = if words { Severity::High } else { Severity::Medium };
        found.push(finding(Part::Schema, severity, Some(old_schema), Some(new_schema)));
    }
    let (old_hints, new_hints) = both("annotations");
    if old_hints != new_hints {
        let more = claims_more(old_hints.as_ref(), new_hints.as_ref());
        let severity = if more { Severity::High } else { Severity::Medium };
        found.push(finding(Part::Annotations, severity, old_hints, new_hints));
    }
    let other = |key: &str| !is_schema(key) && !["description", "annotations"].contains(&key);
    let (old_rest, new_rest) = (only(old, other), only(new, other));
    if old_rest != new_rest {
        found.push(finding(Part::Other, Severity::Low, Some(old_rest), Some(new_rest)));
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn is_schema(key: &str) -> bool {
    ["inputSchema", "outputSchema"].contains(&key)
}

/// Some of the keys of an object.
fn only(raw: &Raw, keep: impl Fn(&str) -> bool) -> Raw {
    Raw::of(&raw.entries().filter(|(key, _)| keep(key)).collect::<BTreeMap<Cow<'_, str>, Raw>>())
}

/// The descriptions and titles anywhere in a schema that is written canonically.
fn words_of(schema: &Raw) -> Vec<Raw> {
    let is_words = |key: &Raw| matches!(key.as_bytes(), br#""description""# | br#""title""#);
    let pairs = schema.strings().zip(schema.strings().skip(1));
    let words = pairs.filter_map(|pair| match pair {
        (Text::Key(key), Text::Value(words)) if is_words(&key) => Some(words),
        _ => None,
    });
    words.collect()
}

/// Whether it claims to be more harmless than before. Without a word a tool is taken for a destructive one that writes.
fn claims_more(old: Option<&Raw>, new: Option<&Raw>) -> bool {
    let harmless = |hints: Option<&Raw>| {
        let is = |key: &str, otherwise: bool| {
            hints.and_then(|hints| hints.get(key)?.as_bool()).unwrap_or(otherwise)
        };
        [
            is("readOnlyHint", false),
            !is("destructiveHint", true),
            is("idempotentHint", false),
            !is("openWorldHint", true),
        ]
    };
    harmless(old).into_iter().zip(harmless(new)).any(|(old, new)| new && !old)
}

fn finding(part: Part, severity: Severity, old: Option<Raw>, new: Option<Raw>) -> Finding {
    let says = match (text(old.as_ref()), text(new.as_ref())) {
        (Some(old), Some(new)) => {
            let diff = TextDiff::from_lines(&old, &new);
            visible(&diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string())
        }
        _ => {
            let [old, new] = [old, new].map(|raw| raw.map_or(0, |raw| raw.as_bytes().len()));
            format!("{old} bytes became {new}, too many for a diff")
        }
    };
    Finding { part, severity, says }
}

/// As people read it, unless that is too long.
fn text(raw: Option<&Raw>) -> Option<String> {
    let Some(raw) = raw else { return Some(String::new()) };
    // A string that is no text is shown as it is written.
    let (mut text, whole) = match raw.as_string() {
        Some(text) => (text.into_owned(), true),
        None => pretty_start(raw, LONGEST),
    };
    text.push('\n');
    (whole && text.len() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What differs between two values.
    fn between(old: &Value, new: &Value) -> Vec<Finding> {
        differences(&Raw::of(old), &Raw::of(new))
    }

    #[test]
    fn each_part_has_its_severity() {
        #[track_caller]
        fn check(old: &Value, new: &Value, expect: &[(Part, Severity)]) {
            let found: Vec<(Part, Severity)> =
                between(old, new).iter().map(|finding| (finding.part, finding.severity)).collect();
            assert_eq!(found, expect, "{old} {new}");
        }
        let schema = |properties: Value| json!({"name": "x", "inputSchema": {"type": "object", "properties": properties}});
        check(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1}), &[]);
        check(
            &json!({"description": "a"}),
            &json!({"description": "b"}),
            &[(Part::Description, Severity::High)],
        );
        check(&json!({}), &json!({"description": "b"}), &[(Part::Description, Severity::High)]);
        check(
            &schema(json!({})),
            &schema(json!({"a": {"type": "string"}})),
            &[(Part::Schema, Severity::Medium)],
        );
        check(
            &schema(json!({"a": {"description": "x"}})),
            &schema(json!({"a": {"description": "y"}})),
            &[(Part::Schema, Severity::High)],
        );
        let hints = |read_only: bool| json!({"annotations": {"readOnlyHint": read_only}});
        check(&hints(false), &hints(true), &[(Part::Annotations, Severity::High)]);
        check(&hints(true), &hints(false), &[(Part::Annotations, Severity::Medium)]);
        check(
            &json!({"title": "a", "description": "a"}),
            &json!({"title": "b", "description": "b"}),
            &[(Part::Description, Severity::High), (Part::Other, Severity::Low)],
        );
    }

    #[test]
    fn a_definition_that_is_deep_and_large_is_compared_at_once() {
        let deep = |last: u32| {
            let (open, close) = (r#"{"a":["#.repeat(60), "]}".repeat(60));
            let text =
                format!(r#"{{"inputSchema":{open}{}{last},{{"title":"t"}}{close}}}"#, "0,".repeat(1_000_000));
            Raw::parse(text.into()).unwrap()
        };
        let found = differences(&deep(1), &deep(2));
        assert_eq!((found.len(), found[0].severity), (1, Severity::Medium));
        assert_eq!(found[0].says, "2000511 bytes became 2000511, too many for a diff");
    }

    #[test]
    fn a_diff_can_be_read_and_shows_what_is_invisible() {
        let found = between(
            &json!({"description": "Reads.\nFast."}),
            &json!({"description": "Reads\u{200b}.\nFast."}),
        );
        assert_eq!(found[0].says, "@@ -1,2 +1,2 @@\n-Reads.\n+Reads\\u{200b}.\n Fast.\n");
    }

    #[test]
    fn what_another_digest_has_is_shown() {
        #[track_caller]
        fn check(old: &'static str, new: &'static str, expect: &str) {
            let (old, new) = (Raw::literal(old), Raw::literal(new));
            assert_ne!(toolgate_wire::digest(&old), toolgate_wire::digest(&new), "{old:?}");
            let said: Vec<String> = differences(&old, &new).into_iter().map(|finding| finding.says).collect();
            assert_eq!(said, [expect], "{}", old.as_str());
        }
        // Numbers that are the same as floats, or are none.
        check(r#"{"description":1.0}"#, r#"{"description":1.00}"#, "@@ -1 +1 @@\n-1.0\n+1.00\n");
        check(
            r#"{"description":18446744073709551616}"#,
            r#"{"description":18446744073709551617}"#,
            "@@ -1 +1 @@\n-18446744073709551616\n+18446744073709551617\n",
        );
        check(r#"{"annotations":0}"#, r#"{"annotations":-0}"#, "@@ -1 +1 @@\n-0\n+-0\n");
        check(r#"{"description":1e999}"#, r#"{"description":2e999}"#, "@@ -1 +1 @@\n-1e999\n+2e999\n");
        check(r#"{"description":null}"#, "{}", "@@ -1 +0,0 @@\n-null\n");
        // Halves of characters.
        check(
            r#"{"description":"a\ud800"}"#,
            r#"{"description":"a\uD801"}"#,
            "@@ -1 +1 @@\n-\"a\\ud800\"\n+\"a\\ud801\"\n",
        );
        check(
            r#"{"title":"\ud800","inputSchema":{"x":[{"y":1}]}}"#,
            r#"{"title":"\ud800","inputSchema":{"x":[{"y":2}]}}"#,
            "@@ -3,5 +3,5 @@\n     \"x\": [\n       {\n-        \"y\": 1\n+        \"y\": 2\n       }\n     ]\n",
        );
    }
}

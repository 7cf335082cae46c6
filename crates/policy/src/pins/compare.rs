//! What differs between two definitions of a tool, part by part.

use serde_json::{Map, Value};
use similar::TextDiff;

use super::report::{Finding, Part, Severity};
use super::suspect::visible;

/// The longest text of which a diff is made.
const LONGEST: usize = 64 * 1024;

/// What differs, gravest first.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    let differ = |key: &str| old.get(key) != new.get(key);
    if differ("description") {
        found.push(finding(Part::Description, Severity::High, &old["description"], &new["description"]));
    }
    let (old_schema, new_schema) = (only(old, is_schema), only(new, is_schema));
    if old_schema != new_schema {
        // Words in a schema go to the model like any others.
        let words = words_of(&old_schema) != words_of(&new_schema);
        let severity = if words { Severity::High } else { Severity::Medium };
        found.push(finding(Part::Schema, severity, &old_schema, &new_schema));
    }
    if differ("annotations") {
        let severity = if claims_more(&old["annotations"], &new["annotations"]) {
            Severity::High
        } else {
            Severity::Medium
        };
        found.push(finding(Part::Annotations, severity, &old["annotations"], &new["annotations"]));
    }
    let other = |key: &str| !is_schema(key) && !["description", "annotations"].contains(&key);
    let (old_rest, new_rest) = (only(old, other), only(new, other));
    if old_rest != new_rest {
        found.push(finding(Part::Other, Severity::Low, &old_rest, &new_rest));
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn is_schema(key: &str) -> bool {
    ["inputSchema", "outputSchema"].contains(&key)
}

/// Some of the keys of an object, in order of their names.
fn only(value: &Value, keep: impl Fn(&str) -> bool) -> Value {
    let entries = value.as_object().into_iter().flatten().filter(|(key, _)| keep(key));
    sorted(&Value::Object(entries.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

/// The order of keys means nothing, and would only fill a diff.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(
                entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The descriptions and titles anywhere in a schema.
fn words_of(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(entries) => {
            let own = ["description", "title"].into_iter().filter_map(|key| schema.get(key)?.as_str());
            own.chain(entries.values().flat_map(words_of)).collect()
        }
        Value::Array(items) => items.iter().flat_map(words_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Whether it claims to be more harmless than before. Without a word a tool is taken for a destructive one that writes.
fn claims_more(old: &Value, new: &Value) -> bool {
    let is = |value: &Value, key: &str, otherwise: bool| value[key].as_bool().unwrap_or(otherwise);
    let harmless = |value: &Value| {
        [
            is(value, "readOnlyHint", false),
            !is(value, "destructiveHint", true),
            is(value, "idempotentHint", false),
            !is(value, "openWorldHint", true),
        ]
    };
    harmless(old).into_iter().zip(harmless(new)).any(|(old, new)| new && !old)
}

fn finding(part: Part, severity: Severity, old: &Value, new: &Value) -> Finding {
    let (old, new) = (text(old), text(new));
    let says = if old.len().max(new.len()) > LONGEST {
        format!("{} bytes became {}, too many for a diff", old.len(), new.len())
    } else {
        let diff = TextDiff::from_lines(&old, &new);
        visible(&diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string())
    };
    Finding { part, severity, says }
}

fn text(value: &Value) -> String {
    let mut text = match value {
        Value::Null => return String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(&sorted(value)).unwrap_or_default()
        }
    };
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_part_has_its_severity() {
        #[track_caller]
        fn check(old: &Value, new: &Value, expect: &[(Part, Severity)]) {
            let found: Vec<(Part, Severity)> =
                differences(old, new).iter().map(|finding| (finding.part, finding.severity)).collect();
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
    fn a_diff_can_be_read_and_shows_what_is_invisible() {
        let found = differences(
            &json!({"description": "Reads.\nFast."}),
            &json!({"description": "Reads\u{200b}.\nFast."}),
        );
        assert_eq!(found[0].says, "@@ -1,2 +1,2 @@\n-Reads.\n+Reads\\u{200b}.\n Fast.\n");
    }
}

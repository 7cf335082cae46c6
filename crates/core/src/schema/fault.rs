//! What is wrong with a value, in words: which field, and what it may be instead.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::view::{nearest, shown};

/// How many of the values that a field may have are named.
const MOST_CHOICES: usize = 30;

/// One fault. The value itself stays out of the text: it may be long, or a secret.
pub(super) fn line(fault: &ValidationError<'_>, schema: &Value) -> String {
    let at = fault.instance_path().to_string();
    let at = at.trim_start_matches('/').replace('/', ".");
    let inner = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    // The library has dozens of kinds, and good words for most of them.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what it says itself does for all others")]
    let what = match fault.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => {
            return format!("`{}` is missing", inner(name));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = |name: &str| known_as(name, schema).filter(|_| at.is_empty());
            let told = unexpected.iter().map(|name| match known(name) {
                Some(meant) => format!("`{}` is unknown (did you mean `{meant}`?)", shown(name)),
                None => format!("`{}` is unknown", inner(&shown(name))),
            });
            return told.take(super::MOST_FAULTS).collect::<Vec<_>>().join("; ");
        }
        ValidationErrorKind::Enum { options } => {
            let choices = options.as_array().map_or(&[][..], Vec::as_slice);
            format!("the value is not one of {}", listed(choices))
        }
        _ => fault.masked_with("the value").to_string(),
    };
    if at.is_empty() { what } else { format!("`{at}`: {what}") }
}

/// The name that was meant, if a schema has one like it.
fn known_as<'a>(name: &str, schema: &'a Value) -> Option<&'a str> {
    let names = schema.get("properties")?.as_object()?.keys().map(String::as_str);
    nearest(name, names, 1).first().copied()
}

/// All of them, as far as anyone reads on.
fn listed(choices: &[Value]) -> String {
    let named: Vec<String> = choices.iter().take(MOST_CHOICES).map(Value::to_string).collect();
    match (named.as_slice(), choices.len().saturating_sub(MOST_CHOICES)) {
        ([before @ .., last], 0) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        (named, 0) => named.concat(),
        (named, more) => format!("{} or {more} others", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_wire::Raw;

    use super::super::InputCheck;

    #[track_caller]
    fn check(arguments: serde_json::Value, expect: &str) {
        let schema = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string"},
                "mode": {"enum": ["replace", "append", "prepend", "edit", "create"]},
                "many": {"enum": (0..40).collect::<Vec<_>>()},
                "one": {"enum": ["x"]},
                "deep": {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let told = InputCheck::new(schema).check(&Raw::of(&arguments)).unwrap_err();
        assert_eq!(told.message(), expect, "{arguments}");
    }

    #[test]
    fn a_fault_names_the_field_and_what_it_may_be() {
        check(json!({}), "`url` is missing");
        check(json!({"mdoe": "x"}), "`mdoe` is unknown (did you mean `mode`?); `url` is missing");
        check(json!({"url": "x", "zzz": 1}), "`zzz` is unknown");
        check(json!({"url": 5}), "`url`: the value is not of type \"string\"");
        check(
            json!({"url": "x", "mode": "s3cret"}),
            "`mode`: the value is not one of \"replace\", \"append\", \"prepend\", \"edit\" or \"create\"",
        );
        check(json!({"url": "x", "one": "y"}), "`one`: the value is not one of \"x\"");
        check(json!({"url": "x", "deep": {"b": 1}}), "`deep.b` is unknown; `deep.a` is missing");
        check(json!({"url": "x", "limit": 0}), "`limit`: the value is less than the minimum of 1");
    }

    #[test]
    fn of_very_many_values_the_first_are_named() {
        let told = super::listed(&(0..40).map(serde_json::Value::from).collect::<Vec<_>>());
        assert!(told.starts_with("0, 1, 2, ") && told.ends_with("29 or 10 others"), "{told}");
    }
}

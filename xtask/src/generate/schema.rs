//! A JSON Schema as rows of a table.

use serde_json::Value;

/// A property of an object, or of an object inside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its path: `items[].path`.
    pub(super) name: String,
    /// What values it takes.
    pub(super) form: String,
    pub(super) required: bool,
    pub(super) default: String,
    pub(super) meaning: String,
}

/// The properties of an object, each followed by those inside it.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    collect(schema, "", &mut found);
    found
}

fn collect(schema: &Value, prefix: &str, found: &mut Vec<Field>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (key, property) in properties {
        let name = format!("{prefix}{key}");
        let required = schema["required"].as_array().is_some_and(|keys| keys.iter().any(|item| item == key));
        let (inner, mark) = match property.get("items") {
            Some(items) => (items, "[]."),
            None => (property, "."),
        };
        let below = format!("{name}{mark}");
        found.push(Field {
            name,
            form: form(property),
            required,
            default: property.get("default").map_or_else(String::new, |value| format!("`{value}`")),
            meaning: property["description"].as_str().unwrap_or_default().to_owned(),
        });
        collect(inner, &below, found);
    }
}

/// What values a schema takes, in words.
fn form(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return join(values.iter().map(|value| format!("`{value}`")));
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return join(choices.iter().map(form));
    }
    let types = match schema["type"].as_array() {
        Some(types) => join(types.iter().filter_map(Value::as_str).map(str::to_owned)),
        None => schema["type"].as_str().unwrap_or("any").to_owned(),
    };
    let types = match schema.get("items") {
        Some(items) => format!("{types} of {}", form(items)),
        None => types,
    };
    format!("{types}{}", bounds(schema))
}

fn bounds(schema: &Value) -> String {
    let range = |least: &str, most: &str, unit: &str| match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (None, None) => String::new(),
    };
    [
        range("minimum", "maximum", ""),
        range("minLength", "maxLength", " characters"),
        range("minItems", "maxItems", " items"),
    ]
    .concat()
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_are_told_in_words() {
        for (schema, expect) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["string", "null"]}), "string or null"),
            (json!({"type": "integer", "minimum": 1, "maximum": 9}), "integer, 1 to 9"),
            (json!({"type": "integer", "minimum": 0}), "integer, at least 0"),
            (json!({"type": "string", "maxLength": 64}), "string, at most 64 characters"),
            (json!({"type": "string", "enum": ["a", "b"]}), "`\"a\"` or `\"b\"`"),
            (json!({"type": "array", "items": {"type": "string"}}), "array of string"),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string or null"),
            (json!({"const": 1}), "`1`"),
            (json!(true), "any"),
        ] {
            assert_eq!(form(&schema), expect);
        }
    }

    #[test]
    fn fields_inside_follow_their_owner() {
        let schema = json!({
            "properties": {
                "items": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}},
                "page": {"type": "object", "properties": {"next": {"type": "string", "default": "a"}}},
            },
            "required": ["page"],
        });
        let shown: Vec<(String, bool)> =
            fields(&schema).into_iter().map(|field| (field.name, field.required)).collect();
        let expect = [("items", false), ("items[].path", false), ("page", true), ("page.next", false)];
        assert_eq!(shown, expect.map(|(name, required)| (name.to_owned(), required)));
    }
}

//! Input and output schemas of tools.

use serde_json::Value;
use toolgate_wire::{Raw, headers};

use super::Lists;
use crate::notes::{Notes, quote};
use crate::rule::{Rule, error, note, warning};

pub(crate) static INPUT: Rule = error(
    "input-schema",
    "The input schema of a tool is an object schema with `type: \"object\"`.",
    "a tool without arguments has `{\"type\": \"object\", \"properties\": {}}`",
);
pub(crate) static COMPILES: Rule = error(
    "schema-valid",
    "Input schemas are valid JSON Schema.",
    "hold the schema against the meta-schema of its draft (2020-12 where it names none)",
);
pub(crate) static LOCAL: Rule = error(
    "schema-local",
    "Schemas refer to nothing outside of themselves.",
    "put what `$ref` names into `$defs`: clients must not fetch it",
);
pub(crate) static NO_CHOICE: Rule = error(
    "no-top-level-choice",
    "The input schema has no `anyOf`, `oneOf` or `allOf` at its top.",
    "use optional properties, or two tools: the APIs of several models refuse such a schema",
);
pub(crate) static REQUIRED: Rule = error(
    "required-exists",
    "Every required property is among the properties.",
    "add the property, or take its name out of `required`",
);
pub(crate) static DESCRIBED: Rule = warning(
    "property-description",
    "Every property of an input schema is described.",
    "add a `description` to the property: the model fills it in by that",
);
pub(crate) static TYPED: Rule = warning(
    "property-type",
    "Every property of an input schema has a type.",
    "add a `type`, an `enum`, or a `$ref`",
);
pub(crate) static BOUNDS: Rule = note(
    "number-bounds",
    "A number says what its least and its greatest value are.",
    "add `minimum` and `maximum`, where there are any",
);
pub(crate) static OUTPUT: Rule = error(
    "output-schema",
    "An output schema is valid JSON Schema, and before 2026-07-28 an object schema.",
    "wrap lists and plain values in an object, and hold the schema against the meta-schema",
);
pub(crate) static HEADERS: Rule = error(
    "header-annotations",
    "`x-mcp-header` stands on plain properties, with names that can be headers, once each.",
    "clients over HTTP leave the tool out: mend the annotation, or remove it",
);

const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Deeper than any honest schema.
const DEPTH: usize = 16;

pub(crate) fn check(lists: &Lists, notes: &mut Notes) {
    for tool in &lists.tools {
        let place = super::tool_place(tool);
        input(tool, &place, lists.modern, notes);
        if let Some(output) = tool.get("outputSchema") {
            notes.tried(&OUTPUT);
            if let Some(fault) = compile_fault(output) {
                notes.found(&OUTPUT, place.clone(), quote(&fault));
            } else if !lists.modern && output["type"] != "object" {
                notes.found(&OUTPUT, place.clone(), "its type is not `object`");
            }
        }
    }
}

fn input(tool: &Value, place: &str, modern: bool, notes: &mut Notes) {
    [&INPUT, &COMPILES, &LOCAL, &NO_CHOICE, &REQUIRED, &DESCRIBED, &TYPED, &BOUNDS]
        .into_iter()
        .for_each(|rule| notes.tried(rule));
    let schema = &tool["inputSchema"];
    if !schema.is_object() || schema["type"] != "object" {
        let what =
            if schema.is_null() { "it has none".into() } else { format!("its type is {}", schema["type"]) };
        return notes.found(&INPUT, place, what);
    }
    if let Some(far) = far_reference(schema, 0) {
        notes.found(&LOCAL, place, format!("`$ref` to `{}`", quote(&far)));
    } else if let Some(fault) = compile_fault(schema) {
        notes.found(&COMPILES, place, quote(&fault));
    }
    for word in CHOICES.iter().filter(|word| schema.get(**word).is_some()) {
        notes.found(&NO_CHOICE, place, format!("`{word}` at the top"));
    }
    if modern {
        notes.tried(&HEADERS);
        if let Err(bad) = headers::header_params(&Raw::of(schema)) {
            notes.found(&HEADERS, place, bad.to_string());
        }
    }
    let mut properties = Properties { root: schema, place, notes };
    properties.walk("", schema, 0);
}

fn compile_fault(schema: &Value) -> Option<String> {
    if let Some(far) = far_reference(schema, 0) {
        return Some(format!("`$ref` to `{far}`"));
    }
    jsonschema::validator_for(schema).err().map(|error| {
        let at = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        let what = error.masked_with("the value").to_string();
        if at.is_empty() { what } else { format!("`{at}`: {what}") }
    })
}

/// A reference to something outside of the schema.
fn far_reference(value: &Value, depth: usize) -> Option<String> {
    if depth > 4 * DEPTH {
        return None;
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(key, value)| match value.as_str() {
            Some(text) if key == "$ref" && !text.starts_with('#') => Some(text.to_owned()),
            _ => far_reference(value, depth + 1),
        }),
        Value::Array(items) => items.iter().find_map(|item| far_reference(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Goes through the properties of a schema, and those within.
struct Properties<'a> {
    root: &'a Value,
    place: &'a str,
    notes: &'a mut Notes,
}

impl<'a> Properties<'a> {
    fn walk(&mut self, at: &str, schema: &'a Value, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let properties = schema["properties"].as_object();
        if let (Some(properties), Some(required)) = (properties, schema["required"].as_array()) {
            let missing =
                required.iter().filter_map(Value::as_str).filter(|name| !properties.contains_key(*name));
            for name in missing.collect::<Vec<_>>() {
                self.found(&REQUIRED, &join(at, name), "it is required, and not among the properties");
            }
        }
        for (name, property) in properties.into_iter().flatten() {
            let at = join(at, name);
            self.property(&at, property);
            self.walk(&at, property, depth + 1);
            if property["items"].is_object() {
                self.walk(&format!("{at}[]"), &property["items"], depth + 1);
            }
        }
    }

    fn property(&mut self, at: &str, property: &'a Value) {
        let target = self.target(property);
        let says =
            |schema: &Value| schema["description"].as_str().is_some_and(|text| !text.trim().is_empty());
        if property.is_object() && !says(property) && !says(target) {
            self.found(&DESCRIBED, at, "it has no description");
        }
        let typed = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not"];
        if property.as_object().is_some_and(|members| !typed.iter().any(|key| members.contains_key(*key))) {
            self.found(&TYPED, at, "it has no type");
        }
        let number = matches!(target["type"].as_str(), Some("number" | "integer"));
        let bounds =
            ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "enum", "const", "format"];
        if number && !bounds.iter().any(|key| target.get(*key).is_some()) {
            self.found(&BOUNDS, at, "it has neither a least nor a greatest value");
        }
    }

    /// What a property refers to, or itself.
    fn target(&self, property: &'a Value) -> &'a Value {
        let reference = property["$ref"].as_str().and_then(|text| text.strip_prefix('#'));
        reference.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(property)
    }

    fn found(&mut self, rule: &'static Rule, at: &str, what: &str) {
        self.notes.found(rule, self.place, format!("`{}`: {what}", quote(at)));
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

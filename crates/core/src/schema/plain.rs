//! A check for the plain schemas that most tools have: an object of simple fields.
//!
//! It only ever says that a value surely fits; whatever it is not sure of is left to the full validator, which also
//! writes the errors. It saves that validator's memory and time for tools that are called rightly.

use serde_json::{Map, Value};
use toolgate_wire::{Kind, Raw};

/// Keywords that say nothing about which values fit.
const REMARKS: [&str; 6] = ["description", "title", "default", "examples", "$comment", "x-mcp-header"];

/// An object of simple fields, and of no others.
#[derive(Debug)]
pub(super) struct Plain {
    fields: Vec<Field>,
    open: bool,
}

#[derive(Debug)]
struct Field {
    name: String,
    required: bool,
    kinds: Vec<Simple>,
    /// The words it may be, where they are listed.
    words: Option<Vec<String>>,
    least: Option<i64>,
    most: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Simple {
    Text,
    Truth,
    Integer,
    Null,
}

impl Plain {
    /// Reads a schema; `None` where anything in it is not plain.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let known = ["type", "properties", "required", "additionalProperties"];
        only(schema, &known)?;
        (schema.get("type")?.as_str()? == "object").then_some(())?;
        let open = match schema.get("additionalProperties") {
            None => true,
            Some(open) => open.as_bool()?,
        };
        let required: Vec<&str> = match schema.get("required") {
            None => Vec::new(),
            Some(names) => names.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?,
        };
        let none = Map::new();
        let properties = schema.get("properties").map_or(Some(&none), Value::as_object)?;
        let fields: Option<Vec<Field>> = properties
            .iter()
            .map(|(name, field)| Field::of(name, field, required.contains(&name.as_str())))
            .collect();
        required.iter().all(|name| properties.contains_key(*name)).then_some(())?;
        Some(Self { fields: fields?, open })
    }

    /// Whether a value surely fits.
    pub(super) fn surely_fits(&self, value: &Raw) -> bool {
        if value.kind() != Kind::Object {
            return false;
        }
        let mut found = 0;
        for (key, value) in value.entries() {
            match self.fields.iter().find(|field| field.name == key) {
                Some(field) if field.surely_fits(&value) => found += usize::from(field.required),
                None if self.open => {}
                Some(_) | None => return false,
            }
        }
        // Keys are unique: a message that repeats one is refused at the door.
        found == self.fields.iter().filter(|field| field.required).count()
    }
}

impl Field {
    fn of(name: &str, field: &Value, required: bool) -> Option<Self> {
        let field = field.as_object()?;
        only(field, &["type", "enum", "minimum", "maximum"])?;
        let kinds = field.get("type")?;
        let kinds = kinds.as_array().map_or(std::slice::from_ref(kinds), Vec::as_slice);
        let kinds = kinds.iter().map(simple).collect::<Option<Vec<_>>>()?;
        let words = match field.get("enum") {
            None => None,
            Some(words) => Some(
                words
                    .as_array()?
                    .iter()
                    .map(|word| word.as_str().map(String::from))
                    .collect::<Option<_>>()?,
            ),
        };
        let bound = |key| match field.get(key) {
            None => Some(None),
            Some(bound) => bound.as_i64().map(Some),
        };
        let (least, most) = (bound("minimum")?, bound("maximum")?);
        Some(Self { name: name.into(), required, kinds, words, least, most })
    }

    fn surely_fits(&self, value: &Raw) -> bool {
        let kind = match value.kind() {
            Kind::String => Simple::Text,
            Kind::Bool => Simple::Truth,
            Kind::Null => Simple::Null,
            Kind::Number => Simple::Integer,
            Kind::Array | Kind::Object => return false,
        };
        if !self.kinds.contains(&kind) {
            return false;
        }
        match (kind, &self.words) {
            (Simple::Text, Some(words)) => {
                value.as_string().is_some_and(|text| words.iter().any(|word| *word == text))
            }
            (_, Some(_)) => false,
            (Simple::Integer, None) => value.as_str().parse::<i64>().is_ok_and(|number| {
                self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
            }),
            (Simple::Text | Simple::Truth | Simple::Null, None) => true,
        }
    }
}

/// `None` where there are keywords besides these and mere remarks.
fn only(schema: &Map<String, Value>, known: &[&str]) -> Option<()> {
    let is_known = |key: &String| known.contains(&key.as_str()) || REMARKS.contains(&key.as_str());
    schema.keys().all(is_known).then_some(())
}

fn simple(kind: &Value) -> Option<Simple> {
    match kind.as_str()? {
        "string" => Some(Simple::Text),
        "boolean" => Some(Simple::Truth),
        "integer" => Some(Simple::Integer),
        "null" => Some(Simple::Null),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "A path."},
                "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 10},
                "deep": {"type": "boolean"},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn what_is_plain_is_known_by_its_keywords() {
        assert!(Plain::of(&schema()).is_some());
        assert!(Plain::of(&json!({"type": "object"})).is_some());
        for other in [
            json!({"type": "array"}),
            json!({"type": "object", "anyOf": []}),
            json!({"type": "object", "required": ["x"]}),
            json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "a"}}}),
            json!({"type": "object", "properties": {"x": {"type": "number"}}}),
            json!({"type": "object", "properties": {"x": {"type": "array"}}}),
            json!({"type": "object", "properties": {"x": {"type": "integer", "minimum": 0.5}}}),
            json!({"type": "object", "properties": {"x": true}}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
        ] {
            assert!(Plain::of(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_value_surely_fits_or_is_left_to_the_validator() {
        #[track_caller]
        fn check(value: Value, expect: bool) {
            assert_eq!(Plain::of(&schema()).unwrap().surely_fits(&Raw::of(&value)), expect, "{value}");
        }
        check(json!({"path": "x"}), true);
        check(json!({"path": "x", "mode": "b", "limit": 10, "deep": true}), true);
        check(json!({"path": "x", "limit": null}), true);
        check(json!({}), false);
        check(json!({"path": 1}), false);
        check(json!({"path": "x", "mode": "c"}), false);
        check(json!({"path": "x", "limit": 11}), false);
        check(json!({"path": "x", "limit": 1.0}), false);
        check(json!({"path": "x", "other": 1}), false);
        check(json!([]), false);
    }

    fn values() -> impl Strategy<Value = Value> {
        let simple = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|truth| json!(truth)),
            (-3i64..14).prop_map(|number| json!(number)),
            (-2.0f64..12.0).prop_map(|number| json!(number)),
            "[abx]{0,2}".prop_map(|text| json!(text)),
            Just(json!([])),
            Just(json!({"a": 1})),
        ];
        let key = prop_oneof!["path|mode|limit|deep", "[a-d]{1,3}"];
        prop_oneof![
            4 => proptest::collection::btree_map(key, simple.clone(), 0..5).prop_map(|map| json!(map)),
            1 => simple,
        ]
    }

    proptest! {
        #[test]
        fn what_surely_fits_fits_by_the_full_validator_too(value in values()) {
            let validator = jsonschema::validator_for(&schema()).unwrap();
            if Plain::of(&schema()).unwrap().surely_fits(&Raw::of(&value)) {
                prop_assert!(validator.is_valid(&value), "{}", value);
            }
        }
    }
}

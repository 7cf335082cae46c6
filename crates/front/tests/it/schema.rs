//! Messages held against the schema of 2025-11-25.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../check/data/2025-11-25.json")).expect("a schema")
});

/// Fails when a value is not what the schema has under this name.
#[track_caller]
pub(crate) fn check_schema(definition: &'static str, value: &Value) {
    static COMPILED: LazyLock<Mutex<HashMap<&str, Validator>>> = LazyLock::new(Mutex::default);
    assert!(SCHEMA["$defs"].get(definition).is_some(), "the schema has no {definition}");
    let mut compiled = COMPILED.lock().unwrap();
    let validator = compiled.entry(definition).or_insert_with(|| {
        let mut schema = SCHEMA.clone();
        schema["$ref"] = json!(format!("#/$defs/{definition}"));
        jsonschema::validator_for(&schema).unwrap()
    });
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{definition}: {faults:?} in {value}");
}

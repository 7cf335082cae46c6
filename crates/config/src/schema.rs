//! The JSON Schema of `toolgate.toml`, put together from the components' types.

mod describe;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use describe::{KeyDoc, TableDoc, describe};

/// Builds the JSON Schema of the whole file; editors understand draft 7.
#[derive(Debug)]
pub struct FileSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
}

impl Default for FileSchema {
    fn default() -> Self {
        Self::new()
    }
}

impl FileSchema {
    /// The schema of a file without any key.
    #[must_use]
    pub fn new() -> Self {
        let settings = SchemaSettings::draft07().with_transform(RecursiveTransform(without_number_format));
        Self { generator: settings.into_generator(), properties: Map::new() }
    }

    /// Adds a top-level key, be it a table or a single value.
    #[must_use]
    pub fn key<T: JsonSchema>(mut self, name: &str) -> Self {
        let schema = self.generator.subschema_for::<T>();
        self.properties.insert(name.to_owned(), schema.to_value());
        self
    }

    /// Adds a top-level key with what it means and what holds without it.
    #[must_use]
    pub fn entry<T: JsonSchema + Serialize>(mut self, name: &str, doc: &str, default: &T) -> Self {
        let mut schema = self.generator.subschema_for::<T>().to_value();
        if let Some(reference) = schema.as_object_mut().and_then(|schema| schema.remove("$ref")) {
            // In draft 7 nothing that stands beside a reference counts.
            schema = json!({ "allOf": [{ "$ref": reference }] });
        }
        schema["description"] = doc.into();
        match serde_json::to_value(default) {
            Ok(default) if !default.is_object() && !default.is_null() => schema["default"] = default,
            Ok(_) | Err(_) => {}
        }
        self.properties.insert(name.to_owned(), schema);
        self
    }

    /// The finished schema.
    #[must_use]
    pub fn finish(mut self) -> Value {
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "toolgate.toml",
            "type": "object",
            "properties": self.properties,
            "additionalProperties": false,
            "definitions": self.generator.take_definitions(true),
        })
    }
}

/// `uint16` and the like mean something to Rust only; the bounds say the same to everybody.
fn without_number_format(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| kind != "string") {
        schema.remove("format");
    }
}

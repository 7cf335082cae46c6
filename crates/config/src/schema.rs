//! The JSON Schema of `toolgate.toml`, put together from the components' types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

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
        Self { generator: SchemaSettings::draft07().into_generator(), properties: Map::new() }
    }

    /// Adds a top-level key, be it a table or a single value.
    #[must_use]
    pub fn key<T: JsonSchema>(mut self, name: &str) -> Self {
        let schema = self.generator.subschema_for::<T>();
        self.properties.insert(name.to_owned(), schema.to_value());
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

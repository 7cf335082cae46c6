//! A schema, told as tables and keys.

use serde_json::{Map, Value};

use crate::key::KeyPath;

/// A table of the file: its keys, without those of the tables in it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDoc {
    /// Its dotted name; empty for the top of the file, with `NAME` where any name may stand.
    pub name: String,
    /// Whether there may be any number of it, each under a header in double brackets.
    pub repeated: bool,
    /// What it is for.
    pub description: String,
    /// Its keys.
    pub keys: Vec<KeyDoc>,
}

impl TableDoc {
    /// The line that begins it.
    #[must_use]
    pub fn header(&self) -> String {
        if self.repeated { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }

    /// Whether it is there only if somebody writes it: one of many, or by a name of its own.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        self.repeated || self.name.split('.').any(|part| part == "NAME")
    }
}

/// A key of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDoc {
    /// Its name within its table.
    pub name: String,
    /// What it means.
    pub description: String,
    /// What values it takes, in words.
    pub form: String,
    /// What holds if nobody writes it; none if it is then not set.
    pub default: Option<Value>,
    /// A value that makes sense.
    pub example: Option<Value>,
}

/// The tables of a file by its schema: the top first, then each followed by those in it.
#[must_use]
pub fn describe(schema: &Value) -> Vec<TableDoc> {
    let mut tables = Vec::new();
    let describer = Describer { definitions: &schema["definitions"] };
    describer.table(&KeyPath::default(), schema, String::new(), &mut tables);
    tables.retain(|table| !table.keys.is_empty());
    tables
}

struct Describer<'a> {
    definitions: &'a Value,
}

impl Describer<'_> {
    fn table(&self, at: &KeyPath, schema: &Value, description: String, tables: &mut Vec<TableDoc>) {
        let place = tables.len();
        tables.push(TableDoc { name: at.to_string(), repeated: false, description, keys: Vec::new() });
        for (name, property) in entries(schema) {
            let (resolved, below) = (self.resolve(property), at.key(name));
            let description = text(property, "description").or_else(|| text(resolved, "description"));
            let description = description.unwrap_or_default().to_owned();
            if resolved.get("properties").is_some() {
                self.table(&below, resolved, description, tables);
            } else if let Some(entry) = resolved.get("additionalProperties").filter(|entry| entry.is_object())
                && self.resolve(entry).get("properties").is_some()
            {
                self.table(&below.key("NAME"), self.resolve(entry), description, tables);
            } else if let Some(item) = resolved.get("items").map(|item| self.resolve(item))
                && item.get("properties").is_some()
            {
                let first = tables.len();
                self.table(&below, item, description, tables);
                tables[first].repeated = true;
            } else {
                tables[place].keys.push(KeyDoc {
                    name: name.clone(),
                    description,
                    form: self.form(property),
                    default: property.get("default").filter(|value| !value.is_null()).cloned(),
                    example: property["examples"]
                        .get(0)
                        .cloned()
                        .or_else(|| self.choices(property).into_iter().next()),
                });
            }
        }
    }

    /// The schema that a reference leads to.
    fn resolve<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let reference = text(schema, "$ref").or_else(|| text(schema["allOf"].get(0)?, "$ref"));
        let name = reference.and_then(|path| path.strip_prefix("#/definitions/"));
        name.map_or(schema, |name| self.resolve(&self.definitions[name]))
    }

    /// The values that a schema names, if it names them all.
    fn choices(&self, schema: &Value) -> Vec<Value> {
        let schema = self.resolve(schema);
        let list = |key: &str| schema[key].as_array().into_iter().flatten();
        let below = |choice: &Value| {
            choice.get("const").map_or_else(|| self.choices(choice), |value| vec![value.clone()])
        };
        list("enum").cloned().chain(list("oneOf").chain(list("anyOf")).flat_map(below)).collect()
    }

    fn form(&self, schema: &Value) -> String {
        let choices: Vec<String> = self.choices(schema).iter().map(|value| format!("`{value}`")).collect();
        if choices.is_empty() { self.plain(self.resolve(schema)) } else { choices.join(" or ") }
    }

    fn plain(&self, schema: &Value) -> String {
        let types =
            schema["type"].as_array().map_or_else(|| vec![&schema["type"]], |all| all.iter().collect());
        let word = types.into_iter().filter_map(Value::as_str).find(|word| *word != "null");
        match word.unwrap_or("any") {
            "array" => format!("list of {}", self.form(&schema["items"])),
            "object" => "table".to_owned(),
            "integer" => format!("integer{}", range(schema)),
            word => word.to_owned(),
        }
    }
}

fn range(schema: &Value) -> String {
    match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    }
}

fn entries(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key)?.as_str()
}

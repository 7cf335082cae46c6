//! Values of JSON as TOML, and the other way.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, InlineTable, Item, Table, Value};

/// A value as JSON; a date becomes its text.
pub(super) fn to_json(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Value(value) => scalar(value),
        Item::Table(table) => table_to_json(table),
        Item::ArrayOfTables(tables) => tables.iter().map(table_to_json).collect(),
    }
}

fn table_to_json(table: &Table) -> Json {
    Json::Object(table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect())
}

fn scalar(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::from(text.value().as_str()),
        Value::Integer(number) => Json::from(*number.value()),
        Value::Float(number) => Json::from(*number.value()),
        Value::Boolean(truth) => Json::from(*truth.value()),
        Value::Datetime(date) => Json::from(date.value().to_string()),
        Value::Array(items) => items.iter().map(scalar).collect(),
        Value::InlineTable(table) => Json::Object(
            table.iter().map(|(key, value)| (key.to_owned(), scalar(value))).collect::<Map<_, _>>(),
        ),
    }
}

/// A value as TOML; null, which TOML has not, becomes an empty text.
pub(super) fn to_toml(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(""),
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::from(integer),
            None => Value::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(to_toml).collect::<Array>()),
        Json::Object(object) => {
            let pairs = object.iter().map(|(key, value)| (toml_edit::Key::new(key), to_toml(value)));
            Value::InlineTable(pairs.collect::<InlineTable>())
        }
    }
}

/// Puts a value in the place of another; the comment behind it stays.
pub(super) fn replace(item: &mut Item, with: &Json) {
    let mut value = to_toml(with);
    if let Item::Value(old) = item {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

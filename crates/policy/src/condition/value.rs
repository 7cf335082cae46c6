//! JSON as values of the expression language.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value;
use cel::objects::{Key, Map};
use toolgate_wire::Raw;

/// The value, and how many values there are in it.
pub(super) fn of(raw: &Raw) -> serde_json::Result<(Value, usize)> {
    let mut count = 0;
    let value = convert(raw.to()?, &mut count);
    Ok((value, count))
}

/// The depth is bounded already: what is deeper than the wire allows never became a call.
fn convert(json: serde_json::Value, count: &mut usize) -> Value {
    use serde_json::Value as Json;
    *count += 1;
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::String(text) => Value::String(Arc::new(text)),
        // Whole numbers are integers, as people write them in a condition.
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::UInt(number),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::Array(items) => {
            Value::List(Arc::new(items.into_iter().map(|item| convert(item, count)).collect()))
        }
        Json::Object(entries) => {
            let entries = entries.into_iter();
            let entries: HashMap<Key, Value> =
                entries.map(|(key, value)| (Key::String(Arc::new(key)), convert(value, count))).collect();
            Value::Map(Map { map: Arc::new(entries) })
        }
    }
}

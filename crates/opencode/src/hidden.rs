//! OpenCode's configuration as it may be shown: it tells keys and tokens in clear.

use serde_json::{Map, Value};

/// What stands in the place of a value that may be a secret.
const HIDDEN: &str = "[REDACTED]";

/// Parts of names whose values may be secrets.
const TELLING: [&str; 9] =
    ["key", "token", "secret", "password", "passphrase", "credential", "authorization", "cookie", "header"];

/// The same configuration, without what may be secret.
pub(crate) fn hidden(config: Map<String, Value>) -> Map<String, Value> {
    config.into_iter().map(|(name, value)| (name.clone(), shown(&name, value))).collect()
}

fn shown(name: &str, value: Value) -> Value {
    let lower = name.to_ascii_lowercase();
    let all_of_it = lower == "environment" || lower == "env" || lower == "headers";
    match value {
        Value::Object(object) if all_of_it => {
            object.into_iter().map(|(name, _)| (name, Value::from(HIDDEN))).collect()
        }
        Value::Object(object) => Value::Object(hidden(object)),
        Value::Array(items) => items.into_iter().map(|item| shown(name, item)).collect(),
        Value::String(_) if TELLING.iter().any(|word| lower.contains(word)) => HIDDEN.into(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_and_tokens_are_not_shown() {
        let config = json!({
            "model": "a/b",
            "provider": {"a": {"options": {"apiKey": "sk-1", "baseURL": "http://x"}, "env": ["A_KEY"]}},
            "mcp": {"x": {"environment": {"TOKEN": "t"}, "headers": {"X-Any": "h"}, "command": ["run"]}},
        });
        let shown = hidden(config.as_object().unwrap().clone());
        assert_eq!(
            Value::from(shown),
            json!({
                "model": "a/b",
                "provider": {"a": {"options": {"apiKey": HIDDEN, "baseURL": "http://x"}, "env": ["A_KEY"]}},
                "mcp": {"x": {"environment": {"TOKEN": HIDDEN}, "headers": {"X-Any": HIDDEN}, "command": ["run"]}},
            })
        );
    }
}

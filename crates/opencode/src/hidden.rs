//! OpenCode's configuration as it may be shown: it tells keys and tokens in clear.

mod words;

use serde_json::{Map, Value};

/// What stands in the place of a value that may be a secret.
const HIDDEN: &str = "[REDACTED]";

/// Whose values are all secret, whatever they are called.
const SECRET: [&str; 3] = ["headers", "env", "environment"];

/// What holds things by names that somebody chose: these names tell nothing of the things.
const NAMED: [&str; 9] =
    ["agent", "mode", "mcp", "provider", "models", "command", "formatter", "lsp", "permission"];

/// The same configuration, without what may be secret.
pub(crate) fn hidden(config: Map<String, Value>) -> Map<String, Value> {
    shown_all(config, false)
}

/// Words of OpenCode, such as those of an error, without what may be secret.
pub(crate) fn hidden_words(text: &str) -> String {
    words::shown(text)
}

/// An address as it may be shown: without who signs in, and without the values behind its path.
pub fn shown_address(address: &str) -> String {
    words::shown(address)
}

/// What is in an object; where its names were chosen by somebody, they do not tell.
fn shown_all(object: Map<String, Value>, is_named: bool) -> Map<String, Value> {
    let shown = |(name, value): (String, Value)| {
        let value = match (is_named, value) {
            (true, Value::Object(object)) => Value::Object(shown_all(object, false)),
            (_, value) => shown(&name, value),
        };
        (name, value)
    };
    object.into_iter().map(shown).collect()
}

fn shown(name: &str, value: Value) -> Value {
    let lower = name.to_ascii_lowercase();
    // The keys of a keyboard.
    if lower == "keybinds" {
        return value;
    }
    let is_telling = words::are_telling(name);
    match value {
        Value::Object(_) if is_telling || SECRET.contains(&lower.as_str()) => all_hidden(value),
        Value::Object(object) => Value::Object(shown_all(object, NAMED.contains(&lower.as_str()))),
        // The names of the variables that may hold a key are no keys.
        Value::Array(names) if lower == "env" => names.into(),
        Value::Array(_) if is_telling => all_hidden(value),
        Value::Array(items) => {
            let item = |item: Value| if item.is_string() { item } else { shown(name, item) };
            words::arguments(items.into_iter().map(item).collect())
        }
        Value::String(_) if is_telling => HIDDEN.into(),
        Value::String(text) if lower == "command" => words::command(&text).into(),
        Value::String(text) => words::shown(&text).into(),
        // A number of tokens is none of them.
        Value::Number(_) if is_telling && !lower.ends_with("tokens") => HIDDEN.into(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

/// The same shape without anything that was in it.
fn all_hidden(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, all_hidden(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(all_hidden).collect(),
        Value::Null | Value::Bool(_) => value,
        Value::Number(_) | Value::String(_) => HIDDEN.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(config: &Value, expect: Value) {
        assert_eq!(Value::from(hidden(config.as_object().unwrap().clone())), expect);
    }

    #[test]
    fn keys_and_tokens_are_not_shown() {
        let options = json!({"apiKey": "sk-1", "apikey": "x", "baseURL": "http://x", "maxTokens": 7, "setCacheKey": true});
        check(
            &json!({
                "model": "a/b",
                "provider": {"a": {"options": options, "env": ["A_KEY"]}},
                "mcp": {"x": {"environment": {"TOKEN": "t", "N": 1}, "headers": {"X-Any": "h"}, "command": ["run"]}},
            }),
            json!({
                "model": "a/b",
                "provider": {"a": {"options": {"apiKey": HIDDEN, "apikey": HIDDEN, "baseURL": "http://x",
                    "maxTokens": 7, "setCacheKey": true}, "env": ["A_KEY"]}},
                "mcp": {"x": {"environment": {"TOKEN": HIDDEN, "N": HIDDEN}, "headers": {"X-Any": HIDDEN},
                    "command": ["run"]}},
            }),
        );
    }

    #[test]
    fn what_lies_below_a_telling_name_is_not_shown() {
        check(
            &json!({"a": {"token": {"value": "t", "deep": [{"x": "y"}]}, "credentials": ["a", {"b": "c"}], "pin_password": 1234}}),
            json!({"a": {"token": {"value": HIDDEN, "deep": [{"x": HIDDEN}]}, "credentials": [HIDDEN, {"b": HIDDEN}],
                "pin_password": HIDDEN}}),
        );
        check(
            &json!({"env": {"A": "b"}, "x": {"Environment": {"A": {"B": "c"}}}}),
            json!({"env": {"A": HIDDEN}, "x": {"Environment": {"A": {"B": HIDDEN}}}}),
        );
    }

    #[test]
    fn what_is_not_secret_stays() {
        let plain = json!({
            "keybinds": {"leader": "ctrl+x", "key_token": "f2"},
            "mcp": {"keycloak": {"type": "local", "command": ["npx", "-y", "keycloak-mcp"]}, "my-token": {"type": "local"}},
            "agent": {"secret": {"prompt": "keep it: short", "model": "a/b"}},
            "tokenizer": "fast",
            "instructions": ["docs/a.md"],
        });
        check(&plain, plain.clone());
    }

    #[test]
    fn addresses_and_commands_lose_their_secrets() {
        check(
            &json!({"mcp": {"x": {"url": "https://me:pw@host/mcp?key=k&x=1", "command": ["run", "--token", "t"]}}}),
            json!({"mcp": {"x": {"url": "https://[REDACTED]@host/mcp?key=[REDACTED]&x=[REDACTED]",
                "command": ["run", "--token", HIDDEN]}}}),
        );
        check(
            &json!({"a": {"command": "run --api-key k -v"}}),
            json!({"a": {"command": "run --api-key [REDACTED]"}}),
        );
    }
}

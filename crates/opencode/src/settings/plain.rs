//! What may be written: OpenCode puts files and variables in the place of `{file:…}` and `{env:…}`, anywhere in the text.

use serde_json::Value;
use toolgate_core::{Error, Kind, Result};

use super::Key;

/// Where a variable is meant to be named: what a server needs to let OpenCode in.
const FOR_VARIABLES: [&str; 2] = ["headers", "environment"];

/// Fails if a change would make OpenCode read a file, or a variable where none belongs.
pub(super) fn check(keys: &[Key]) -> Result<()> {
    keys.iter().try_for_each(|(path, value)| {
        path.iter().try_for_each(|name| text(name, false))?;
        let may_name = path.iter().any(|name| is_for_variables(name));
        value.as_ref().map_or(Ok(()), |value| leaves(value, may_name))
    })
}

/// Whether a text names a variable.
pub(super) fn holds_variable(text: &str) -> bool {
    text.to_ascii_lowercase().contains("{env:")
}

fn leaves(value: &Value, may_name: bool) -> Result<()> {
    match value {
        Value::String(words) => text(words, may_name),
        Value::Array(items) => items.iter().try_for_each(|item| leaves(item, may_name)),
        Value::Object(object) => object.iter().try_for_each(|(name, value)| {
            text(name, false)?;
            leaves(value, may_name || is_for_variables(name))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn is_for_variables(name: &str) -> bool {
    FOR_VARIABLES.contains(&name)
}

fn text(words: &str, may_name: bool) -> Result<()> {
    let refused = |what: &str, hint: &'static str| {
        let words = format!("a value holds `{what}`, and OpenCode would put what that names in its place");
        Err(Error::new(Kind::InvalidInput, words).hint(hint))
    };
    if words.to_ascii_lowercase().contains("{file:") {
        return refused("{file:", "give the text itself");
    }
    if holds_variable(words) && !may_name {
        return refused("{env:", "name a variable only in `headers` or `environment`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_never_named_and_variables_only_where_they_belong() {
        #[track_caller]
        fn check(path: &[&str], value: Value, expect: Option<&str>) {
            let path = path.iter().map(|name| (*name).to_owned()).collect();
            let refused = super::check(&[(path, Some(value))]).err();
            assert_eq!(refused.as_ref().map(|error| error.kind()), expect.map(|_| Kind::InvalidInput));
            let words = refused.map(|error| error.message().to_owned()).unwrap_or_default();
            assert!(words.contains(expect.unwrap_or_default()), "{words}");
        }
        check(&["model"], json!("a/b"), None);
        check(&["model"], json!("{file:/etc/passwd}"), Some("`{file:`"));
        check(&["model"], json!("x {FILE:~/.ssh/id}"), Some("`{file:`"));
        check(&["options", "stop"], json!(["a", {"b": "{env:HOME}"}]), Some("`{env:`"));
        check(&["options", "{env:HOME}"], json!(1), Some("`{env:`"));
        check(&["options"], json!({"{file:x}": 1}), Some("`{file:`"));
        check(&["mcp", "x"], json!({"headers": {"Authorization": "Bearer {env:KEY}"}}), None);
        check(&["mcp", "x"], json!({"environment": {"KEY": "{env:KEY}"}}), None);
        check(&["mcp", "x"], json!({"environment": {"{env:KEY}": "k"}}), Some("`{env:`"));
        check(&["mcp", "x"], json!({"headers": {"X": "{file:key}"}}), Some("`{file:`"));
        check(&["mcp", "x"], json!({"url": "https://x/{env:KEY}"}), Some("`{env:`"));
        assert!(super::check(&[(vec!["mcp".into()], None)]).is_ok());
    }
}

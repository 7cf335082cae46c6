//! A file of OpenCode's with some keys changed, and all else as it was, comments too.

use std::result::Result;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};
use toolgate_core::fits_pattern;

use super::Key;
use super::rules::{ALL, PERMISSION, TOOLS};

/// The text with these keys changed, and all else as it was.
pub(super) fn edited(text: &str, keys: &[Key]) -> Result<String, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let top = root.object_value_or_create().ok_or("it is no object")?;
    for (path, value) in keys {
        let Some((last, folders)) = path.split_last() else { continue };
        let Some(object) = below(&top, folders, value.is_some())? else { continue };
        let is_rule = folders.last().is_some_and(|folder| [PERMISSION, TOOLS].contains(&folder.as_str()));
        match (object.get(last), value) {
            (Some(property), Some(value)) if is_rule && is_overruled(&object, last) => {
                property.remove();
                object.append(last, input(value));
            }
            (Some(property), Some(value)) => property.set_value(input(value)),
            (Some(property), None) => property.remove(),
            (None, Some(value)) if is_rule => drop(object.insert(place(&object, last), last, input(value))),
            (None, Some(value)) => drop(object.append(last, input(value))),
            (None, None) => {}
        }
    }
    Ok(root.to_string())
}

/// Whether a pattern stands behind a rule that fits it too: of all that fit, the last one counts. A rule that is a
/// pattern itself keeps its place: elsewhere it would overrule others.
fn is_overruled(object: &CstObject, rule: &str) -> bool {
    if rule.contains(ALL) {
        return false;
    }
    let names = names(object);
    names.iter().skip_while(|name| *name != rule).skip(1).any(|pattern| fits_pattern(pattern, rule))
}

/// Where a new rule belongs: before all that it would overrule.
fn place(object: &CstObject, rule: &str) -> usize {
    let names = names(object);
    names.iter().position(|name| fits_pattern(rule, name)).unwrap_or(names.len())
}

fn names(object: &CstObject) -> Vec<String> {
    let name = |property: CstObjectProp| property.name()?.decoded_value().ok();
    // One that cannot be read keeps its place.
    object.properties().into_iter().map(|property| name(property).unwrap_or_default()).collect()
}

/// What a text says; nothing if it is no object.
pub(super) fn meaning(text: &str) -> Option<Map<String, Value>> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    match root.to_serde_value()? {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// The object at a path, which is made if it is to be; none if there is none.
fn below(top: &CstObject, path: &[String], make: bool) -> Result<Option<CstObject>, String> {
    let mut object = top.clone();
    for key in path {
        let property = object.get(key);
        if !make && property.is_none() {
            return Ok(None);
        }
        if let Some(property) = property.filter(|_| make && key == PERMISSION) {
            unfold(&property);
        }
        object = object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is no object"))?;
    }
    Ok(Some(object))
}

/// One word for all permissions becomes the same as a rule, beside which others can stand.
fn unfold(permission: &CstObjectProp) {
    let word = permission.value().and_then(|value| value.as_string_lit());
    if let Some(word) = word.and_then(|word| word.decoded_value().ok()) {
        permission.set_value(CstInputValue::Object(vec![(ALL.to_owned(), CstInputValue::String(word))]));
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_keeps_comments_and_all_else() {
        #[track_caller]
        fn check(text: &str, path: &[&str], value: Option<Value>, expect: &str) {
            let path = path.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(edited(text, &[(path, value)]).as_deref(), Ok(expect));
        }
        let text =
            "{\n  // mine\n  \"model\": \"a/b\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": true}},\n}\n";
        let model =
            "{\n  // mine\n  \"model\": \"c/d\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": true}},\n}\n";
        check(text, &["model"], Some(json!("c/d")), model);
        let off =
            "{\n  // mine\n  \"model\": \"a/b\", /* old */\n  \"mcp\": {\"x\": {\"enabled\": false}},\n}\n";
        check(text, &["mcp", "x", "enabled"], Some(json!(false)), off);
        let gone = "{\n  // mine\n  \"model\": \"a/b\", /* old */\n  \"mcp\": {},\n}\n";
        check(text, &["mcp", "x"], None, gone);
        check(text, &["mcp", "y"], None, text);
        check(text, &["agent", "y", "model"], None, text);
        check(text, &["mcp", "y", "enabled"], None, text);
        // One word for all permissions is kept beside a new one, and the last that fits counts.
        let rules = |text: &str| format!("{{\"permission\": {text}}}");
        let deny = |text: &str, tool: &str, expect: &str| {
            let text = edited(&rules(text), &[(vec!["permission".into(), tool.into()], Some(json!("deny")))]);
            assert_eq!(meaning(&text.unwrap()).unwrap()["permission"].to_string(), expect);
        };
        deny(r#""allow""#, "bash", r#"{"*":"allow","bash":"deny"}"#);
        deny(r#"{"bash":"ask","*":"allow"}"#, "bash", r#"{"*":"allow","bash":"deny"}"#);
        deny(r#"{"bash":"ask","web*":"allow"}"#, "bash", r#"{"bash":"deny","web*":"allow"}"#);
        deny(r#"{"bash":"ask","edit":"ask"}"#, "*", r#"{"*":"deny","bash":"ask","edit":"ask"}"#);
        deny(
            r#"{"bash":"ask","webfetch":"ask"}"#,
            "web*",
            r#"{"bash":"ask","web*":"deny","webfetch":"ask"}"#,
        );
        deny(r#"{"web*":"ask","*":"ask"}"#, "web*", r#"{"web*":"deny","*":"ask"}"#);
        deny(r#"{"*":"ask"}"#, "bash", r#"{"*":"ask","bash":"deny"}"#);
        assert!(edited("{\"model\": ", &[]).is_err());
        assert!(edited("[]", &[(vec!["a".into()], None)]).is_err());
        assert!(edited("{\"a\": 1}", &[(vec!["a".into(), "b".into()], Some(json!(1)))]).is_err());
    }
}

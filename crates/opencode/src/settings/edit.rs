//! A file of OpenCode's with some keys changed, and all else as it was, comments too.

use std::result::Result;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::Key;

/// The text with these keys changed, and all else as it was.
pub(super) fn edited(text: &str, keys: &[Key]) -> Result<String, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let top = root.object_value_or_create().ok_or("it is no object")?;
    for (path, value) in keys {
        let Some((last, folders)) = path.split_last() else { continue };
        let Some(object) = below(&top, folders, value.is_some())? else { continue };
        match (object.get(last), value) {
            (Some(property), Some(value)) => property.set_value(input(value)),
            (Some(property), None) => property.remove(),
            (None, Some(value)) => drop(object.append(last, input(value))),
            (None, None) => {}
        }
    }
    Ok(root.to_string())
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
        if !make && object.get(key).is_none() {
            return Ok(None);
        }
        object = object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is no object"))?;
    }
    Ok(Some(object))
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
        assert!(edited("{\"model\": ", &[]).is_err());
        assert!(edited("[]", &[(vec!["a".into()], None)]).is_err());
        assert!(edited("{\"a\": 1}", &[(vec!["a".into(), "b".into()], Some(json!(1)))]).is_err());
    }
}

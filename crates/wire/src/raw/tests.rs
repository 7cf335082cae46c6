//! What `raw` promises, case by case.

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

#[test]
fn an_object_has_the_keys_that_it_spells() {
    #[track_caller]
    fn check(text: &'static str, expect: bool) {
        assert_eq!(Raw::literal(text).has_any(&["_meta", "task"]), expect, "{text}");
    }
    check("{}", false);
    check(r#"{"a":{"task":1},"b":"task"}"#, false);
    check(r#"{"a":1,"task":null}"#, true);
    check(r#"{"_met\u0061":{}}"#, true);
    check(r#"["task"]"#, false);
}

#[test]
fn white_space_around_is_not_kept() {
    assert_eq!(raw(" \t\r\n{ } \n").as_str(), "{ }");
    assert_eq!(raw("1 ").as_str(), "1");
}

#[test]
fn members_are_found_by_meaning() {
    #[track_caller]
    fn check(text: &str, key: &str, expect: Option<&str>) {
        assert_eq!(raw(text).get(key).as_ref().map(Raw::as_str), expect);
    }
    check(r#"{"a":1}"#, "a", Some("1"));
    check(r#"{ "x" : {"a":[2 ]} , "a" : [ 1, "]}" ] }"#, "a", Some(r#"[ 1, "]}" ]"#));
    check(r#"{"\u0061":"b\"c"}"#, "a", Some(r#""b\"c""#));
    check(r#"{"\\":1}"#, "\\", Some("1"));
    check(r#"{"\\":1}"#, r"\\", None);
    check(r#"{"":null}"#, "", Some("null"));
    check(r#"{"a":1}"#, "b", None);
    check(r#"["a"]"#, "a", None);
    check("{}", "a", None);
    check(r#""a""#, "a", None);
}

#[test]
fn a_path_goes_through_objects() {
    let value = raw(r#"{"a":{"b":{"c":7}}}"#);
    assert_eq!(value.path(&["a", "b", "c"]).and_then(|raw| raw.as_u64()), Some(7));
    assert_eq!(value.path(&["a", "c"]), None);
    assert_eq!(value.path(&[]), None);
}

#[test]
fn entries_and_items_come_in_order() {
    let object = raw(r#"{ "b" : 1 , "\u0061" : [ 2 ] , "" : { } }"#);
    let entries: Vec<_> = object.entries().map(|(key, value)| format!("{key}={}", value.as_str())).collect();
    assert_eq!(entries, ["b=1", "a=[ 2 ]", "={ }"]);
    let array = raw(r#"[ 1 , "a,b" , [ ] , null ]"#);
    let items: Vec<_> = array.items().map(|item| item.as_str().to_owned()).collect();
    assert_eq!(items, ["1", r#""a,b""#, "[ ]", "null"]);
    for other in ["[]", "{}", "1", r#""{}""#, "null"] {
        assert_eq!(raw(other).entries().count() + raw(other).items().count(), 0);
    }
}

#[test]
fn scalars_are_read() {
    assert_eq!(raw("7").as_u64(), Some(7));
    for text in ["7.0", "-7", "7e0", "18446744073709551616", r#""7""#, "true"] {
        assert_eq!(raw(text).as_u64(), None);
    }
    assert_eq!(raw("true").as_bool(), Some(true));
    assert_eq!(raw("false").as_bool(), Some(false));
    assert_eq!(raw("null").as_bool(), None);
    assert_eq!(raw(r#""a\n""#).as_string().as_deref(), Some("a\n"));
    assert_eq!(raw(r#""\ud800""#).as_string(), None);
    assert_eq!(raw(r#""a\n""#).as_string_lossy().as_deref(), Some("a\n"));
    let lossy = raw(r#""a\ud800\u0062""#).as_string_lossy().map(|text| text.replace('\u{FFFD}', "_"));
    assert_eq!(lossy.as_deref(), Some("a___b"));
    assert_eq!(raw("1").as_string_lossy(), None);
    assert_eq!(raw("1").as_string(), None);
}

#[test]
fn kinds_are_told_by_the_first_byte() {
    let kinds = ["null", "true", "-1", r#""""#, "[]", "{}"].map(|text| raw(text).kind());
    assert_eq!(kinds, [Kind::Null, Kind::Bool, Kind::Number, Kind::String, Kind::Array, Kind::Object]);
}

#[test]
fn debug_shows_no_content() {
    assert_eq!(format!("{:?}", raw(r#"{"secret":1}"#)), "Raw(Object, 12 bytes)");
}

#[test]
fn a_clone_and_a_part_share_the_bytes() {
    let value = raw(r#"{"a":[1]}"#);
    let part = value.get("a").unwrap();
    assert_eq!(part.as_bytes().as_ptr(), value.as_bytes()[5..].as_ptr());
}

#[test]
fn serde_carries_it_as_it_is() {
    #[derive(Serialize, Deserialize)]
    struct Outer {
        inner: Raw,
        more: Option<Raw>,
    }
    let text = r#"{"inner":{ "a" : 1.0e0 },"more":[9007199254740993]}"#;
    let outer: Outer = serde_json::from_str(text).unwrap();
    assert_eq!(outer.inner.as_str(), r#"{ "a" : 1.0e0 }"#);
    assert_eq!(serde_json::to_string(&outer).unwrap(), text);
    assert!(serde_json::from_str::<Outer>(r#"{"inner":{"a":1,"a":2}}"#).is_err());
    assert_eq!(raw("[1,2]").to::<Vec<u8>>().unwrap(), [1, 2]);
}

#[test]
fn values_become_json() {
    assert_eq!(Raw::of(&vec!["a", "b"]).as_str(), r#"["a","b"]"#);
    assert_eq!(Raw::of("é").as_str(), "\"é\"");
    assert_eq!(Raw::string("a\"b\n").as_str(), r#""a\"b\n""#);
    let no_json = std::collections::BTreeMap::from([(vec![1], 1)]);
    assert_eq!(Raw::of(&no_json), Raw::NULL);
}

#[test]
fn strings_are_found_at_any_depth_and_told_apart_from_keys() {
    #[track_caller]
    fn check(json: &'static str, expect: &[&str]) {
        let text = |text: Text| match text {
            Text::Key(key) => format!("{}:", key.as_str()),
            Text::Value(value) => value.as_str().to_owned(),
        };
        let found: Vec<String> = Raw::literal(json).strings().map(text).collect();
        assert_eq!(found, expect, "{json}");
    }
    check("1", &[]);
    check(r#""a""#, &[r#""a""#]);
    check(
        r#"{"a" : {"b":["c", 1, {"d":null}]}, "":":"}"#,
        &["\"a\":", "\"b\":", "\"c\"", "\"d\":", "\"\":", "\":\""],
    );
    check(r#"["\"", "\\", "x\\\":", "{\"y\":1}"]"#, &[r#""\"""#, r#""\\""#, r#""x\\\":""#, r#""{\"y\":1}""#]);
}

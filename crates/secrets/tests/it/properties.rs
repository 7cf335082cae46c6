//! What holds for any secret, any text, any document and any cut.

use proptest::prelude::*;
use serde_json::Value;
use toolgate_core::Filter as _;
use toolgate_wire::Raw;

use crate::checker::{assert_hidden, leak};
use crate::samples::{REDACTOR, in_parts, one, redactor};

/// Secrets of what causes trouble; none can be a part of a marker.
fn secret() -> impl Strategy<Value = String> {
    let characters = r#"[a-f0-9"\\/%+ \nué😀{}:,\[\]-]{8,24}"#;
    characters.prop_filter("not white space alone", |value| value.trim().len() >= 8)
}

/// Ways to write a text that lead back to it.
fn written(text: &str, ways: &[u8]) -> String {
    ways.iter().fold(text.to_owned(), |text, way| match way {
        0 => Raw::string(&text).as_str().to_owned(),
        1 => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        2 => text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        3 => format!("{{\"a\": {}}}", Raw::string(&text).as_str()),
        4 => Raw::string(&text).as_str().replace('/', "\\/"),
        _ => text,
    })
}

/// Escapes up to three times, or percent signs beside one of them.
fn ways() -> impl Strategy<Value = Vec<u8>> {
    let escapes = prop::sample::select(vec![0u8, 2, 3, 4]);
    prop_oneof![
        3 => prop::collection::vec(escapes, 0..4),
        1 => prop::sample::select(vec![vec![1], vec![1, 0], vec![0, 1], vec![1, 1]]),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let text = r#"[ -~é😀\n"\\%]{0,20}"#;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text, inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_writing_of_a_secret_survives(
        secret in secret(),
        (before, behind) in (".{0,12}", ".{0,12}"),
        ways in ways(),
    ) {
        let redactor = one("S", &secret);
        let text = written(&format!("{before}{secret}{behind}"), &ways);
        let redacted = redactor.text(&text).expect("the secret is found");
        assert_hidden(redacted.as_bytes(), &secret);
        let document = Raw::of(&serde_json::json!({"content": [{"text": text, "k": {text.as_str(): 1}}]}));
        let redacted = redactor.json(document);
        assert_hidden(redacted.as_bytes(), &secret);
        Raw::parse(redacted.bytes()).expect("it stays JSON");
        redacted.to::<Value>().expect("for others too");
    }

    #[test]
    fn no_cut_of_a_stream_shows_a_secret(
        secrets in prop::collection::vec(secret(), 1..4),
        texts in prop::collection::vec((".{0,6}", 0usize..4, prop::collection::vec(0u8..5, 0..3)), 1..5),
        sizes in prop::collection::vec(1usize..12, 1..20),
    ) {
        let named: Vec<_> = ["A", "B", "C", "D"].into_iter().zip(secrets.iter().cloned()).collect();
        let redactor = redactor(&named);
        let parts = texts.iter().map(|(between, which, ways)| {
            format!("{between}{}", written(&secrets[which % secrets.len()], ways))
        });
        let text: String = parts.collect();
        let out = in_parts(&redactor, &text, &sizes);
        // What the whole text shows in no way, its parts must not show either.
        let whole = redactor.text(&text).unwrap_or(text);
        for secret in secrets.iter().filter(|secret| leak(whole.as_bytes(), secret).is_none()) {
            assert_hidden(&out, secret);
        }
    }

    #[test]
    fn what_holds_no_secret_is_left_byte_for_byte(value in value(), text in ".{0,200}") {
        let document = Raw::of(&value);
        prop_assume!(!document.as_str().contains("true,false,null"));
        let redacted = REDACTOR.json(document.clone());
        prop_assert_eq!(redacted.as_bytes().as_ptr(), document.as_bytes().as_ptr());
        prop_assert_eq!(REDACTOR.text(&text), None);
        let mut stream = REDACTOR.stream();
        let mut out: Vec<u8> = text.as_bytes().chunks(5).flat_map(|part| stream.push(part)).collect();
        out.extend(stream.finish());
        prop_assert_eq!(out, text.as_bytes());
    }

    #[test]
    fn any_document_stays_json_and_keeps_its_shape(value in value(), secret in secret(), at in any::<prop::sample::Index>()) {
        // A secret cut from the document itself can lie anywhere: in keys, numbers, escapes, across structure.
        let document = Raw::of(&value);
        let text = document.as_str();
        let start = (0..=at.index(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let cut: String = text[start..].chars().take(14).collect();
        let secrets = [("CUT", cut), ("S", secret)];
        let secrets: Vec<_> = secrets.into_iter().filter(|(_, value)| value.trim().len() >= 8).collect();
        let redacted = redactor(&secrets).json(document.clone());
        Raw::parse(redacted.bytes()).expect("it stays JSON");
        let after: Value = redacted.to().expect("for others too");
        prop_assert_eq!(shape(&value), shape(&after));
    }
}

/// How a document is built, without what it says.
fn shape(value: &Value) -> Vec<Vec<usize>> {
    fn walk(value: &Value, depth: usize, out: &mut Vec<Vec<usize>>) {
        match value {
            Value::Array(items) => {
                out.push(vec![depth, 1, items.len()]);
                items.iter().for_each(|item| walk(item, depth + 1, out));
            }
            Value::Object(members) => {
                out.push(vec![depth, 2, members.len()]);
                members.values().for_each(|member| walk(member, depth + 1, out));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push(vec![depth]),
        }
    }
    let mut out = Vec::new();
    walk(value, 0, &mut out);
    out
}

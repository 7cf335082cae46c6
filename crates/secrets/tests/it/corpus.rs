//! Every secret in every encoding, at every offset, in every spelling, in every place: none is seen outside.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use toolgate_core::Filter as _;
use toolgate_wire::Raw;

use crate::checker::assert_hidden;
use crate::samples::{REDACTOR, SECRETS};

/// What stands around a secret before it is encoded: lengths decide how base64 falls.
const AROUND: [(&str, &str); 6] =
    [("", ""), ("a", "b"), ("é", "cd"), ("abc", ":"), ("user: ", "\n"), ("\u{1}\u{2}~~", "??>")];

fn percent(bytes: &[u8], keep: &[u8], lower: bool) -> String {
    let kept = |byte: &u8| byte.is_ascii_alphanumeric() || keep.contains(byte);
    let write = |byte: &u8| match (kept(byte), lower) {
        (true, _) => char::from(*byte).to_string(),
        (false, true) => format!("%{byte:02x}"),
        (false, false) => format!("%{byte:02X}"),
    };
    bytes.iter().map(write).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A text in every encoding.
fn encodings(text: &str) -> Vec<(&'static str, String)> {
    let bytes = text.as_bytes();
    let full = |lower: bool| -> String {
        bytes.iter().map(|byte| if lower { format!("%{byte:02x}") } else { format!("%{byte:02X}") }).collect()
    };
    vec![
        ("raw", text.to_owned()),
        ("hex", hex(bytes)),
        ("HEX", hex(bytes).to_uppercase()),
        ("base64", STANDARD.encode(bytes)),
        ("base64 without padding", STANDARD_NO_PAD.encode(bytes)),
        ("base64url", URL_SAFE.encode(bytes)),
        ("base64url without padding", URL_SAFE_NO_PAD.encode(bytes)),
        ("percent", percent(bytes, b"-._~", false)),
        ("percent in lower case", percent(bytes, b"-._~", true)),
        ("component", percent(bytes, b"-._~!'()*", false)),
        ("address", percent(bytes, b"-._~!'()*;/?:@&=+$,#", false)),
        ("percent in full", full(false)),
        ("percent in full, lower case", full(true)),
        ("percent twice", percent(percent(bytes, b"-._~", false).as_bytes(), b"", false)),
    ]
}

/// A JSON string in every spelling.
fn spellings(text: &str) -> Vec<String> {
    let units =
        |c: char| -> String { c.encode_utf16(&mut [0; 2]).iter().map(|it| format!("\\u{it:04x}")).collect() };
    let inside = |c: char| {
        let quoted = Raw::string(c.encode_utf8(&mut [0; 4]));
        quoted.as_str()[1..quoted.as_str().len() - 1].to_owned()
    };
    let spell = |escape: &dyn Fn(usize, char) -> bool| -> String {
        let each = text.chars().enumerate();
        each.map(|(index, c)| if escape(index, c) { units(c) } else { inside(c) }).collect()
    };
    let middle = text.chars().count() / 2;
    let plain = spell(&|_, _| false);
    vec![
        plain.replace('/', "\\/"),
        plain,
        spell(&|_, c| !c.is_ascii()),
        spell(&|index, _| index == middle),
        spell(&|index, _| index % 2 == 0),
        spell(&|_, _| true).to_uppercase().replace("\\U", "\\u"),
    ]
}

/// Documents that hold the inside of a JSON string: results, errors, events, lists.
fn documents(inside: &str) -> Vec<String> {
    [
        r#"{"content":[{"type":"text","text":"@"}],"isError":false}"#,
        r#"{"content":[],"structuredContent":{"a":[1,{"@":2.50}]}}"#,
        r#"{"code":-32603,"message":"@","data":{"why":["@"]}}"#,
        r#"{"progress":1,"total":10,"message":"half of @ done"}"#,
        r#"{"level":"info","logger":"x","data":"@"}"#,
        r#"{"tools":[{"name":"a","description":"@","inputSchema":{"default":"@"}}],"nextCursor":"@"}"#,
        r#"{"method":"elicitation/create","params":{"message":" @?"}}"#,
        r#"{"contents":[{"uri":"x:@","mimeType":"a/b","blob":"@"}]}"#,
        r#""@""#,
    ]
    .iter()
    .map(|document| document.replace('@', inside))
    .collect()
}

#[track_caller]
fn check(document: &str, secret: &str) {
    let raw = Raw::parse(document.to_owned().into()).expect("the document is JSON");
    let before = REDACTOR.redactions();
    let redacted = REDACTOR.json(raw);
    assert!(REDACTOR.redactions() > before, "nothing was hidden in {document}");
    assert_hidden(redacted.as_bytes(), secret);
    if let Err(error) = Raw::parse(redacted.bytes()) {
        panic!("{error} in {}", redacted.as_str());
    }
    redacted.to::<serde_json::Value>().unwrap();
}

/// Secrets short enough to be tried in every way.
fn short() -> impl Iterator<Item = &'static str> {
    SECRETS.iter().map(|(_, value)| value.as_str()).filter(|value| value.len() < 1000)
}

#[test]
fn no_encoding_at_any_offset_shows_a_secret_in_any_document() {
    for secret in short() {
        for (before, behind) in AROUND {
            for (_, encoded) in encodings(&format!("{before}{secret}{behind}")) {
                let quoted = Raw::string(&encoded);
                let inside = &quoted.as_str()[1..quoted.as_str().len() - 1];
                documents(inside).iter().for_each(|document| check(document, secret));
            }
        }
    }
}

#[test]
fn no_spelling_at_any_depth_shows_a_secret() {
    for secret in short() {
        for (_, encoded) in encodings(secret) {
            for spelled in spellings(&format!("see: {encoded}, yes")) {
                let mut inside = spelled;
                for depth in 0..4 {
                    check(&format!(r#"{{"content":[{{"type":"text","text":"{inside}"}}]}}"#), secret);
                    if depth < 2 {
                        check(&format!(r#"{{"a":{{"{inside}":null}}}}"#), secret);
                    }
                    let deeper = Raw::string(&format!(r#"it says {{"{depth}":"{inside}"}}"#));
                    inside = deeper.as_str()[1..deeper.as_str().len() - 1].to_owned();
                }
            }
        }
    }
}

#[test]
fn no_encoding_shows_a_secret_in_plain_text() {
    for secret in short() {
        for (before, behind) in AROUND {
            for (_, encoded) in encodings(&format!("{before}{secret}{behind}")) {
                for text in [
                    encoded.clone(),
                    Raw::string(&encoded).as_str().to_owned(),
                    spellings(&encoded).remove(4),
                ] {
                    let redacted = REDACTOR.text(&text).unwrap_or_else(|| panic!("not found in {text}"));
                    assert_hidden(redacted.as_bytes(), secret);
                }
            }
        }
    }
}

#[test]
fn the_longest_secret_is_found_in_every_encoding_too() {
    let (_, secret) = SECRETS.iter().find(|(name, _)| *name == "LONG").unwrap();
    assert_eq!(secret.len(), 4096);
    for (before, behind) in AROUND {
        for (_, encoded) in encodings(&format!("{before}{secret}{behind}")) {
            let quoted = Raw::string(&encoded);
            check(&format!(r#"{{"text":{}}}"#, quoted.as_str()), secret);
        }
    }
    for spelled in spellings(secret) {
        check(&format!(r#"{{"text":"{spelled}"}}"#), secret);
    }
}

#[test]
fn base64_of_a_file_of_json_shows_no_secret() {
    let quoted = &SECRETS.iter().find(|(name, _)| *name == "QUOTED").unwrap().1;
    for before in ["", "a", "ab"] {
        let file = format!("{before}{}", Raw::string(quoted).as_str());
        let document = format!(r#"{{"blob":"{}"}}"#, STANDARD.encode(file));
        let redacted = REDACTOR.json(Raw::parse(document.into()).unwrap());
        assert_eq!(redacted.as_str(), format!(r#"{{"blob":"{}"}}"#, STANDARD.encode("[REDACTED:QUOTED]")));
    }
}

//! Secrets of which only the beginning is known are hidden to their end, in every form.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use toolgate_core::Filter as _;
use toolgate_secrets::{Opening, Redactor};
use toolgate_wire::Raw;

use crate::checker::assert_hidden;

const TOKEN: &str = "tg_abcdefghij_Zq3-_xK9wR7vT5uS1pO8nM6lL4kJ2hG0fD-dC_bAz91";
const REST: usize = 43;

fn redactor() -> Redactor {
    let redactor = Redactor::new();
    let opening = Opening { text: "tg_abcdefghij_".into(), rest: REST };
    assert!(redactor.set_openings([("TOKEN", opening)]).unwrap().is_empty());
    redactor
}

#[test]
fn it_is_replaced_to_its_end_and_no_further() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        let text = text.replace('@', TOKEN);
        assert_eq!(redactor().text(&text).unwrap_or(text), expect);
    }
    assert_eq!(TOKEN.len(), "tg_abcdefghij_".len() + REST);
    check("Bearer @", "Bearer [REDACTED:TOKEN]");
    check("@ and @.", "[REDACTED:TOKEN] and [REDACTED:TOKEN].");
    check("@abc-@@", "[REDACTED:TOKEN]abc-[REDACTED:TOKEN][REDACTED:TOKEN]");
    check("tg_abcdefghij_Zq3-_xK cut", "[REDACTED:TOKEN] cut");
    check("tg_abcdefghij_", "[REDACTED:TOKEN]");
    check(
        "tg_abcdefghik_Zq3-_xK9wR7vT5uS1pO8nM6lL4kJ2hG0fD-dC_bA",
        "tg_abcdefghik_Zq3-_xK9wR7vT5uS1pO8nM6lL4kJ2hG0fD-dC_bA",
    );
    check(r"tg_abcdefghij_Zq3\u002d_xK9wR7vT5uS1pO8nM6lL4kJ2hG0fD\x2ddC_bAz9\u0031!", "[REDACTED:TOKEN]!");
    check("tg%5Fabcdefghij%5FZq3-%5FxK9wR7vT5uS1pO8nM6lL4kJ2hG0fD-dC%5FbAz9%31%20", "[REDACTED:TOKEN]%20");
}

/// What a token is made of in all encodings, behind 0 to 2 other bytes.
fn encodings() -> Vec<String> {
    let mut all = Vec::new();
    for before in ["", "a", "ab"] {
        let text = format!("{before}{TOKEN}, and more of the same file");
        all.push(text.clone());
        all.push(text.bytes().map(|byte| format!("{byte:02x}")).collect());
        all.push(text.bytes().map(|byte| format!("{byte:02X}")).collect());
        all.push(STANDARD.encode(&text));
        all.push(URL_SAFE_NO_PAD.encode(&text));
        all.push(text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect());
        let lines = STANDARD.encode(&text);
        all.push([&lines[..60], "\n", &lines[60..]].concat());
    }
    all
}

/// Any part of the token that is long enough to matter.
fn parts() -> impl Iterator<Item = &'static str> {
    (14..TOKEN.len() - 8).map(|at| &TOKEN[at..at + 8])
}

#[test]
fn no_encoding_shows_any_part_of_it() {
    let redactor = redactor();
    for text in encodings() {
        let redacted = redactor.text(&text).unwrap_or_else(|| panic!("not found in {text}"));
        parts().for_each(|part| assert_hidden(redacted.as_bytes(), part));
        let document = Raw::of(&serde_json::json!({"text": serde_json::json!({"in": text}).to_string()}));
        let redacted = redactor.json(document);
        parts().for_each(|part| assert_hidden(redacted.as_bytes(), part));
        Raw::parse(redacted.bytes()).unwrap();
    }
}

#[test]
fn no_cut_of_a_stream_shows_any_part_of_it() {
    let redactor = redactor();
    for text in encodings() {
        let whole = redactor.text(&text).unwrap();
        for size in 1..text.len() {
            let mut stream = redactor.stream();
            let mut out: Vec<u8> = text.as_bytes().chunks(size).flat_map(|part| stream.push(part)).collect();
            out.extend(stream.finish());
            assert_eq!(String::from_utf8_lossy(&out), whole, "in parts of {size}");
        }
    }
}

#[test]
fn it_is_hidden_beside_secrets_and_no_more_once_it_is_taken_back() {
    let redactor = redactor();
    redactor.set([("S", toolgate_host::Secret::new("s3cr3t-t0ken".into()))]).unwrap();
    let text = format!("{TOKEN} s3cr3t-t0ken");
    assert_eq!(redactor.text(&text).as_deref(), Some("[REDACTED:TOKEN] [REDACTED:S]"));
    redactor.set_openings::<String>([]).unwrap();
    assert_eq!(redactor.text(&text), Some(format!("{TOKEN} [REDACTED:S]")));
}

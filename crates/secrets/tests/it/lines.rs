//! Base64 in lines shows no secret, wherever the lines break, however the breaks are spelled.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;
use toolgate_core::Filter as _;
use toolgate_secrets::Redactor;
use toolgate_wire::Raw;

use crate::checker::assert_hidden;
use crate::samples::{SECRETS, in_parts, one};

const WIDTHS: [usize; 3] = [60, 64, 76];
const BREAKS: [&str; 3] = ["\n", "\r\n", "\r\n    "];

/// A text in lines, as programs write base64.
fn wrapped(text: &str, width: usize, between: &str) -> String {
    let lines: Vec<&str> = text.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap()).collect();
    lines.join(between)
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Hides a secret in a text, in a document that holds it, and in documents inside of that.
#[track_caller]
fn check(redactor: &Redactor, text: &str, secret: &str) {
    let redacted = redactor.text(text).unwrap_or_else(|| panic!("not found in {text}"));
    assert_hidden(redacted.as_bytes(), secret);
    let mut inside = text.to_owned();
    for depth in 0..3 {
        let document = Raw::of(&serde_json::json!({"content": [{"type": "text", "text": inside}]}));
        let redacted = redactor.json(document.clone());
        assert_ne!(redacted.as_str(), document.as_str(), "nothing was hidden at depth {depth}");
        assert_hidden(redacted.as_bytes(), secret);
        Raw::parse(redacted.bytes()).unwrap_or_else(|error| panic!("{error} in {}", redacted.as_str()));
        inside = document.as_str().to_owned();
    }
}

#[test]
fn no_break_shows_a_secret() {
    for (_, secret) in SECRETS.iter().filter(|(_, secret)| secret.len() < 1000) {
        let redactor = one("S", secret);
        // So that the break falls on every part of the secret, and the secret on every offset.
        for before in (0..58).step_by(5) {
            let file = format!("{}{secret}\nmore: of the same file\n", "#".repeat(before));
            for (width, between) in WIDTHS.iter().flat_map(|width| BREAKS.map(|between| (*width, between))) {
                for encoded in [STANDARD.encode(&file), URL_SAFE.encode(&file), hex(&file)] {
                    check(&redactor, &wrapped(&encoded, width, between), secret);
                }
            }
        }
    }
}

#[test]
fn breaks_and_letters_are_found_in_other_spellings_too() {
    let secret = "~~~?>>?~~~-s3cr3t";
    let redactor = one("S", secret);
    for before in 30..50 {
        let file = format!("{}{secret} and more", "k".repeat(before));
        let lines = wrapped(&STANDARD.encode(file), 64, "\n");
        for text in [
            lines.replace('/', "\\/").replace('\n', "\\n"),
            lines.replace('+', "\\u002B").replace('\n', "\\r\\n"),
            lines.replace('\n', "\\u000a"),
            lines.replace('/', "%2F").replace('+', "%2b").replace('\n', "%0D%0A%20%20"),
            lines.replace('/', "%252F").replace('+', "%252B").replace('\n', "%250A"),
            lines.replace('\n', "\\n\\t"),
        ] {
            check(&redactor, &text, secret);
        }
    }
}

#[test]
fn exactly_the_secret_is_replaced() {
    #[track_caller]
    fn check(document: &str, expect: &str) {
        let redactor = one("S", "s3cr3t-t0ken");
        let redacted = redactor.json(Raw::parse(document.to_owned().into()).unwrap());
        assert_eq!(redacted.as_str(), expect);
    }
    let line = "k".repeat(52);
    // `s3cr3t-t0ken` is `czNjcjN0LXQwa2Vu`.
    check(
        &format!(r#"{{"text":"{line}czNjcjN0\nLXQwa2Vukkkk\nkk=="}}"#),
        &format!(r#"{{"text":"{line}[REDACTED:S]kkkk\nkk=="}}"#),
    );
    check(
        &format!(r#"{{"blob":"{line}czNjcjN0\r\nLXQwa2Vukkkk"}}"#),
        &format!(r#"{{"blob":"{}"}}"#, STANDARD.encode("[REDACTED:S]")),
    );
    // What are no lines of base64 stays as it is.
    for text in ["a czNjcjN0\\nLXQwa2Vu", "kkkk\\nczNjcjN0\\n\\nLXQwa2Vu"] {
        let document = format!(r#"{{"text":"{text}"}}"#);
        check(&document, &document);
    }
}

#[test]
fn no_cut_of_a_stream_shows_a_secret_in_lines() {
    let secret = "s3cr3t-t0ken-of-some-length";
    let redactor = one("S", secret);
    for (width, between) in WIDTHS.iter().flat_map(|width| BREAKS.map(|between| (*width, between))) {
        for before in [0, 31, 40, 83] {
            let file = format!("{}{secret}\nand more of it\n", "#".repeat(before));
            let lines = wrapped(&STANDARD.encode(&file), width, between);
            let quoted = Raw::string(&lines);
            for text in [lines.as_str(), quoted.as_str(), Raw::string(quoted.as_str()).as_str()] {
                let whole = redactor.text(text).unwrap();
                for size in 1..text.len() {
                    let mut stream = redactor.stream();
                    let mut out: Vec<u8> =
                        text.as_bytes().chunks(size).flat_map(|part| stream.push(part)).collect();
                    out.extend(stream.finish());
                    assert_eq!(String::from_utf8_lossy(&out), whole, "in parts of {size}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_lines_show_a_secret(
        secret in r#"[a-f0-9"\\/%+ué😀{}:,\[\]-]{8,40}"#,
        before in ".{0,90}",
        behind in ".{0,90}",
        width in prop::sample::select(&WIDTHS[..]),
        between in prop::sample::select(&BREAKS[..]),
        sizes in prop::collection::vec(1usize..40, 1..10),
    ) {
        let redactor = one("S", &secret);
        let text = wrapped(&STANDARD.encode(format!("{before}{secret}{behind}")), width, between);
        check(&redactor, &text, &secret);
        let out = in_parts(&redactor, &text, &sizes);
        assert_hidden(&out, &secret);
    }
}

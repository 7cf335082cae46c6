//! A text that comes in parts shows no secret, wherever it is cut, and is not held back without need.

use toolgate_core::Filter as _;
use toolgate_secrets::Redactor;

use crate::checker::assert_hidden;
use crate::samples::{SECRETS, one, redactor};

fn streamed<'a>(redactor: &Redactor, parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut out: Vec<u8> = parts.into_iter().flat_map(|part| stream.push(part)).collect();
    out.extend(stream.finish());
    out
}

#[test]
fn no_cut_shows_a_secret() {
    for (_, secret) in SECRETS.iter().filter(|(_, secret)| secret.len() < 1000) {
        let redactor = one("S", secret);
        for text in [
            format!("see {secret}, {secret}"),
            format!("{secret:?} and {:?}", format!("{secret:?}")),
            secret.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
            secret.encode_utf16().map(|unit| format!("\\\\u{unit:04X}")).collect(),
        ] {
            let bytes = text.as_bytes();
            let whole = redactor.text(&text).unwrap();
            for cut in 0..=bytes.len() {
                let out = streamed(&redactor, [&bytes[..cut], &bytes[cut..]]);
                assert_eq!(String::from_utf8_lossy(&out), whole, "cut at {cut} of {text}");
            }
            for size in [1, 2, 3, 7, 64] {
                let out = streamed(&redactor, bytes.chunks(size));
                assert_hidden(&out, secret);
                assert_eq!(String::from_utf8_lossy(&out), whole, "in parts of {size}");
            }
        }
    }
}

#[test]
fn only_what_may_begin_a_secret_is_held_back() {
    let redactor = one("TOKEN", "s3cr3t-t0ken");
    let mut stream = redactor.stream();
    let mut check = |part: &str, expect: &str| {
        assert_eq!(String::from_utf8(stream.push(part.as_bytes())).unwrap(), expect, "after {part}");
    };
    check("plain text", "plain text");
    check(" s3cr", " ");
    check("am ", "s3cram ");
    check("s3cr3t", "");
    check("-t0ken!", "[REDACTED:TOKEN]!");
    check("one\\", "one");
    check("nand \\u00", "\\nand ");
    check("73", "");
    check("3cr3t-t0ken 100%", "[REDACTED:TOKEN] 100");
    check(" x", "% x");
    check("[REDACTED", "[REDACTED");
    assert_eq!(stream.finish(), b"");
}

#[test]
fn longer_and_overlapping_secrets_are_waited_for() {
    let redactor = redactor(&[
        ("SHORT", "zzz-short".into()),
        ("LONG", "zzz-short-and-long".into()),
        ("A", "abcdefgh-ijkl".into()),
        ("B", "ijkl-mnopqrst".into()),
    ]);
    let check = |parts: &[&str], expect: &str| {
        let out = streamed(&redactor, parts.iter().map(|part| part.as_bytes()));
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    };
    check(&["zzz-short", "-and-long"], "[REDACTED:LONG]");
    check(&["zzz-short", "-and-lost"], "[REDACTED:SHORT]-and-lost");
    check(&["zzz-short"], "[REDACTED:SHORT]");
    check(&["abcdefgh-ijkl", "-mnopqrst"], "[REDACTED:A][REDACTED:B]");
    check(&["abcdefgh-ijkl", "-mnopqrs"], "[REDACTED:A]-mnopqrs");
}

#[test]
fn a_text_made_of_a_secret_is_not_kept_in_memory() {
    let redactor = one("A", "aaaaaaaa");
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    for _ in 0..1000 {
        out.extend(stream.push(&[b'a'; 100]));
    }
    let before = out.len();
    out.extend(stream.finish());
    assert!(before > 1000 && out.len() - before < 100, "{before} of {}", out.len());
    assert!(!out.windows(2).any(|pair| pair == b"aa"));
}

#[test]
fn a_text_of_nothing_but_escapes_is_not_held_back() {
    let redactor = redactor(&[("TOKEN", "s3cr3t-t0ken".into()), ("QUOTED", r#"\"pa"ss\word"#.into())]);
    for piece in
        ["\\", "\\\\", "%", "%25", r"\u4e2d", r"\\u4e2d", r"\ud83d\ude00", r"\x41", r"\u{41}", "%4", "\\\""]
    {
        let mut stream = redactor.stream();
        let text = piece.repeat(2_000);
        let out: usize = text.as_bytes().chunks(97).map(|part| stream.push(part).len()).sum();
        assert!(text.len() - out < 600, "{} bytes of {piece} are held", text.len() - out);
        assert_eq!(out + stream.finish().len(), text.len());
    }
}

#[test]
fn secrets_that_change_on_the_way_count_from_then_on() {
    let redactor = Redactor::new();
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"s3cr3t-t0ken s3c"), b"s3cr3t-t0ken s3c");
    redactor.set([("T", toolgate_host::Secret::new("s3cr3t-t0ken".into()))]).unwrap();
    assert_eq!(stream.push(b"s3cr3t-t0ken s3c"), b"[REDACTED:T] ");
    redactor.set::<String>([]).unwrap();
    assert_eq!(stream.push(b"x"), b"s3cx");
}

//! What becomes of documents: exactly the secret is replaced, and they stay JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_core::Filter as _;
use toolgate_host::Secret;
use toolgate_secrets::Redactor;
use toolgate_wire::Raw;

use crate::samples::{one, redactor};

fn known() -> Redactor {
    redactor(&[
        ("TOKEN", "s3cr3t-t0ken".into()),
        ("PIN", "12345678".into()),
        ("MEMBERS", r#"a":1,"b":"long"#.into()),
        ("WORDS", "true,false,null".into()),
        ("NEWLINE", "nsecret-uABCD".into()),
        ("SMILE", "de00-smile".into()),
        ("BRACKETS", "[[[[[[[[[".into()),
    ])
}

#[track_caller]
fn check(redactor: &Redactor, document: &str, expect: &str) {
    let raw = Raw::parse(document.to_owned().into()).unwrap();
    let at = raw.as_bytes().as_ptr();
    let redacted = redactor.json(raw);
    assert_eq!(redacted.as_str(), expect);
    assert_eq!(
        redacted.as_bytes().as_ptr() == at,
        document == expect,
        "the same bytes only if nothing changed"
    );
    Raw::parse(redacted.bytes()).unwrap();
}

#[test]
fn exactly_the_secret_is_replaced() {
    let redactor = known();
    let check = |document, expect| check(&redactor, document, expect);
    check(r#"{ "a" : [1.50, "x s3cr3t-t0ken y" ] }"#, r#"{ "a" : [1.50, "x [REDACTED:TOKEN] y" ] }"#);
    check(r#"{"s3cr3t-t0ken":1}"#, r#"{"[REDACTED:TOKEN]":1}"#);
    check(r#""s3cr3t-t0kens3cr3t-t0ken""#, r#""[REDACTED:TOKEN][REDACTED:TOKEN]""#);
    check(r#""\ts3cr3t\u002dt0ken\n\"""#, r#""\t[REDACTED:TOKEN]\n\"""#);
    check(r#""{\"a\":\"s3cr3t\\u002dt0ken\",\"b\":1}""#, r#""{\"a\":\"[REDACTED:TOKEN]\",\"b\":1}""#);
    check(r#""?q=s3cr3t%2dt0ken&x=%20""#, r#""?q=[REDACTED:TOKEN]&x=%20""#);
    check(r#"{"a":"s3cr3t-t0ke","b":"n"}"#, r#"{"a":"s3cr3t-t0ke","b":"n"}"#);
    check(r#"{"a":"\u0041\n\\\"%41","b":1e5}"#, r#"{"a":"\u0041\n\\\"%41","b":1e5}"#);
}

#[test]
fn numbers_and_words_become_strings() {
    let redactor = known();
    let check = |document, expect| check(&redactor, document, expect);
    check(r#"{"a":12345678,"b":[12345678 ]}"#, r#"{"a":"[REDACTED:PIN]","b":["[REDACTED:PIN]" ]}"#);
    check("12345678", r#""[REDACTED:PIN]""#);
    check(r#"[-9912345678.5e3,1234567]"#, r#"["[REDACTED:PIN]",1234567]"#);
    check(r#"{"12345678":"12345678"}"#, r#"{"[REDACTED:PIN]":"[REDACTED:PIN]"}"#);
    check("[true,false,null]", r#"["[REDACTED:WORDS]","[REDACTED:WORDS]","[REDACTED:WORDS]"]"#);
    check(r#"["true,false,null"]"#, r#"["[REDACTED:WORDS]"]"#);
}

#[test]
fn a_secret_that_looks_like_structure_leaves_the_structure() {
    let redactor = known();
    let check = |document, expect| check(&redactor, document, expect);
    check(
        r#"{"a":1,"b":"longer"}"#,
        r#"{"[REDACTED:MEMBERS]#1":"[REDACTED:MEMBERS]","[REDACTED:MEMBERS]#2":"[REDACTED:MEMBERS]er"}"#,
    );
    check("[[[[[[[[[1]]]]]]]]]", "[[[[[[[[[1]]]]]]]]]");
    check(r#""[[[[[[[[[""#, r#""[REDACTED:BRACKETS]""#);
}

#[test]
fn keys_that_would_become_the_same_are_numbered() {
    check(
        &known(),
        r#"{"s3cr3t-t0ken":1,"c":2,"s3cr3t%2Dt0ken":3}"#,
        r#"{"[REDACTED:TOKEN]#1":1,"c":2,"[REDACTED:TOKEN]#2":3}"#,
    );
}

#[test]
fn escapes_are_replaced_as_a_whole() {
    let redactor = known();
    let check = |document, expect| check(&redactor, document, expect);
    // The bytes of the secret are there, though the text means another.
    check(r#""line\nsecret-uABCD""#, r#""line[REDACTED:NEWLINE]""#);
    check(r#""\\nsecret-uABCD""#, r#""\\[REDACTED:NEWLINE]""#);
    check(r#""\ud83d\ude00-smile""#, r#""[REDACTED:SMILE]""#);
    check(r#""nsecret-\uABCD""#, r#""nsecret-\uABCD""#);
}

#[test]
fn binary_members_are_replaced_as_a_whole_and_stay_base64() {
    let redactor = known();
    let marker = STANDARD.encode("[REDACTED:TOKEN]");
    for before in ["", "1", "12", "123"] {
        let bytes = [before.as_bytes(), b"\xff\x00s3cr3t-t0ken\xfe"].concat();
        let encoded = STANDARD.encode(bytes);
        for key in ["data", "blob"] {
            check(
                &redactor,
                &format!(r#"{{"type":"image","{key}":"{encoded}","mimeType":"image/png"}}"#),
                &format!(r#"{{"type":"image","{key}":"{marker}","mimeType":"image/png"}}"#),
            );
        }
    }
    // What is text, is text there too.
    check(&redactor, r#"{"data":"a s3cr3t-t0ken b"}"#, r#"{"data":"a [REDACTED:TOKEN] b"}"#);
    check(&redactor, r#"{"data":{"x":"s3cr3t-t0ken"}}"#, r#"{"data":{"x":"[REDACTED:TOKEN]"}}"#);
}

#[test]
fn other_images_and_base64_stay_as_they_are() {
    let noise: Vec<u8> = (0u32..60_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let document = format!(
        r#"{{"content":[{{"type":"image","data":"{}","mimeType":"image/png"}},{{"text":"{}"}}]}}"#,
        STANDARD.encode(&noise),
        STANDARD.encode(&noise[1..]).replace('/', "\\/"),
    );
    check(&known(), &document, &document);
}

#[test]
fn overlapping_secrets_leave_nothing_of_either() {
    let redactor = redactor(&[
        ("A", "abcdefgh-ijkl".into()),
        ("B", "ijkl-mnopqrst".into()),
        ("SHORT", "zzz-short".into()),
        ("LONG", "zzz-short-and-long".into()),
        ("SAME", "zzz-short".into()),
        ("INNER", "t-and-lo".into()),
    ]);
    let check = |text: &str, expect: &str| assert_eq!(redactor.text(text).as_deref(), Some(expect), "{text}");
    check("abcdefgh-ijkl-mnopqrst", "[REDACTED:A][REDACTED:B]");
    check("abcdefgh-ijklijkl-mnopqrst", "[REDACTED:A][REDACTED:B]");
    check("zzz-short", "[REDACTED:SHORT]");
    check("zzz-short-and-long", "[REDACTED:LONG]");
    check("zzz-short-and-lo", "[REDACTED:SHORT][REDACTED:INNER]");
    check("zzz-short-and-lzzz-short", "[REDACTED:SHORT]-and-l[REDACTED:SHORT]");
}

#[test]
fn thousands_of_hits_are_all_replaced() {
    let redactor = one("TOKEN", "s3cr3t-t0ken");
    let items = |value: &str| format!("[{}]", vec![format!("\"{value}\""); 20_000].join(","));
    check(&redactor, &items(r"a s3cr3t-t0ken\n%73"), &items(r"a [REDACTED:TOKEN]\n%73"));
    assert_eq!(redactor.redactions(), 20_000);
    check(&redactor, &items(r"s3cr3t\u002dt0ken"), &items("[REDACTED:TOKEN]"));
    assert_eq!(redactor.redactions(), 40_000);
    // A secret that overlaps with itself everywhere, in a text made of it.
    let secret = "a".repeat(4096);
    let redacted = one("A", &secret).text(&secret.repeat(256)).unwrap();
    assert!(!redacted.contains(&secret) && redacted.len() < 2 * secret.len());
}

#[test]
fn without_secrets_nothing_is_touched() {
    let redactor = Redactor::new();
    check(&redactor, r#"{"a":"s3cr3t-t0ken"}"#, r#"{"a":"s3cr3t-t0ken"}"#);
    assert_eq!(redactor.text("s3cr3t-t0ken"), None);
    assert_eq!((redactor.memory_usage(), redactor.patterns().len(), redactor.redactions()), (0, 0, 0));
}

#[test]
fn secrets_and_what_else_is_secret_change_apart_from_each_other() {
    let secret = |value: &str| Secret::new(value.into());
    let redactor = Redactor::new();
    let other = redactor.clone();
    assert!(redactor.set([("A", secret("first-secret"))]).unwrap().is_empty());
    let extra = [("header x\"y", secret("Bearer second-secret")), ("PIN", secret("1234"))];
    assert_eq!(redactor.set_extra(extra).unwrap(), ["PIN"]);
    let text = "first-secret, second-secret, 1234";
    assert_eq!(other.text(text).unwrap(), "[REDACTED:A], [REDACTED:header_x_y], 1234");
    redactor.set([("B", secret("third-secret"))]).unwrap();
    assert_eq!(other.text(text).unwrap(), "first-secret, [REDACTED:header_x_y], 1234");
    redactor.set::<String>([]).unwrap();
    redactor.set_extra::<String>([]).unwrap();
    assert_eq!(other.text(text), None);
}

#[test]
fn what_is_too_much_changes_nothing_and_does_not_stand_in_the_way_of_what_comes_after() {
    let secret = |value: &str| Secret::new(value.into());
    let redactor = Redactor::with_room(1000);
    redactor.set_extra([("A", secret("first-secret"))]).unwrap();
    let error = redactor.set_extra([("B", secret(&"second-secret".repeat(100)))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the secrets are too many to look for: their forms take more than 1000 bytes"
    );
    redactor.set([("C", secret("third-secret"))]).unwrap();
    let text = redactor.text("first-secret, second-secret, third-secret").unwrap();
    assert_eq!(text, "[REDACTED:A], second-secret, [REDACTED:C]");
}

#[test]
fn fifty_secrets_take_little_memory() {
    let secrets =
        (0..50).map(|n| (format!("S{n}"), Secret::new(format!("ghp_{:036x}", n * 0x9E37_79B9u128))));
    let redactor = Redactor::new();
    redactor.set(secrets).unwrap();
    assert!(redactor.memory_usage() < 4 << 20, "{}", redactor.memory_usage());
    assert!(redactor.patterns().len() <= 9 * 50);
}

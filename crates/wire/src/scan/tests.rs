//! What `scan` promises, case by case.

use super::*;

#[track_caller]
fn check(text: impl AsRef<[u8]>, expect: Result<(), &str>) {
    let found = scan(text.as_ref()).map(|_| ()).map_err(|fault| fault.to_string());
    assert_eq!(found, expect.map_err(str::to_owned), "{:?}", String::from_utf8_lossy(text.as_ref()));
}

#[test]
fn json_is_accepted() {
    let texts = [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "-1.5e+10",
        "1E400",
        "123456789012345678901234567890",
        "\"\"",
        "[]",
        "{}",
        "[1,[2,{}],\"a\"]",
        r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#,
        "\t[\r\n1 , 2\n]",
        "\"\u{7f}é😀\"",
        r#""\"\\\/\b\f\n\r\t\u00e9\ud800""#,
        r#"{"\ud83d\ude00":1}"#,
        r#"{"a":1,"A":2,"":3,"a ":4}"#,
    ];
    for text in texts {
        check(text, Ok(()));
    }
}

#[test]
fn what_is_not_json_is_refused() {
    check("", Err("unexpected end of JSON at byte 0"));
    check("  ", Err("unexpected end of JSON at byte 2"));
    check("[1", Err("unexpected end of JSON at byte 2"));
    check("\"abc", Err("unexpected end of JSON at byte 4"));
    check("tru", Err("unexpected end of JSON at byte 3"));
    check("-", Err("unexpected end of JSON at byte 1"));
    check("1.", Err("unexpected end of JSON at byte 2"));
    check("{\"a\":", Err("unexpected end of JSON at byte 5"));
    check("1 2", Err("invalid JSON at byte 2"));
    check("01", Err("invalid JSON at byte 1"));
    check("+1", Err("invalid JSON at byte 0"));
    check(".5", Err("invalid JSON at byte 0"));
    check("1.e5", Err("invalid JSON at byte 2"));
    check("1ee5", Err("invalid JSON at byte 2"));
    check("nul1", Err("invalid JSON at byte 3"));
    check("[1,]", Err("invalid JSON at byte 3"));
    check("[1}", Err("invalid JSON at byte 2"));
    check("{\"a\":1]", Err("invalid JSON at byte 6"));
    check("{\"a\":1,}", Err("invalid JSON at byte 7"));
    check("{\"a\" 1}", Err("invalid JSON at byte 5"));
    check("{a:1}", Err("invalid JSON at byte 1"));
    check("]", Err("invalid JSON at byte 0"));
    check("\u{feff}1", Err("invalid JSON at byte 0"));
    check(r#""\x""#, Err("invalid JSON at byte 2"));
    check(r#""\u12g4""#, Err("invalid JSON at byte 5"));
    check("\"a\nb\"", Err("invalid JSON at byte 2"));
    check("\"0123456789012345678901234567890123456789\tb\"", Err("invalid JSON at byte 41"));
    check(b"\"a\xff\"", Err("invalid UTF-8 at byte 2"));
    check(b"\"\xed\xa0\x80\"", Err("invalid UTF-8 at byte 1"));
}

#[test]
fn a_key_may_occur_once_in_an_object() {
    check(r#"{"a":1,"a":2}"#, Err("duplicate key at byte 7"));
    check(r#"{"a":1,"b":{"a":1,"b":[{"c":1,"c":2}]}}"#, Err("duplicate key at byte 30"));
    check(r#"{"a":1,"\u0061":2}"#, Err("duplicate key at byte 7"));
    check(r#"{"\u0061":1,"x":1,"a":2}"#, Err("duplicate key at byte 18"));
    check(r#"{"a":{"b":1},"c":{"b":1},"a":1}"#, Err("duplicate key at byte 25"));
    check(r#"{"":1,"":1}"#, Err("duplicate key at byte 6"));
}

#[test]
fn many_keys_are_compared_too() {
    let object = |count: usize, last: &str| {
        let members: Vec<String> = (0..count).map(|index| format!("\"k{index}\":{{\"k1\":1}}")).collect();
        format!("{{{},{last}:1}}", members.join(","))
    };
    for count in [1, 2, 15, 16, 17, 18, 31, 32, 33, 34, 100] {
        check(object(count, "\"other\""), Ok(()));
        let duplicate = object(count, "\"k\\u0030\"");
        assert_eq!(scan(duplicate.as_bytes()).map_err(|fault| fault.kind), Err(Fault::DuplicateKey));
    }
    check(object(100_000, "\"other\""), Ok(()));
}

#[test]
fn objects_side_by_side_and_within_each_other_do_not_mix_their_keys() {
    let keys: Vec<String> = (0..20).map(|index| format!("\"k{index}\":0")).collect();
    let wide = format!("{{{}}}", keys.join(","));
    let nested = format!(
        "{{{},\"x\":{{{},\"x\":{wide}}},\"y\":{wide},\"z\":[{wide},{wide}]}}",
        keys.join(","),
        keys.join(",")
    );
    check(&nested, Ok(()));
    check(
        nested.replace("\"z\"", "\"y\""),
        Err(&*format!("duplicate key at byte {}", nested.find("\"z\"").unwrap())),
    );
}

#[test]
fn depth_is_limited() {
    let arrays = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    check(arrays(MAX_DEPTH), Ok(()));
    check(arrays(MAX_DEPTH + 1), Err("nesting deeper than 128 at byte 128"));
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    check(objects(MAX_DEPTH), Ok(()));
    check(objects(MAX_DEPTH + 1), Err("nesting deeper than 128 at byte 640"));
}

#[test]
fn a_key_with_half_of_a_surrogate_pair_is_refused() {
    check(r#"{"\ud800":1}"#, Err("lone surrogate in a key at byte 1"));
    check(r#"{"x":"\ud800"}"#, Ok(()));
}

#[test]
fn members_of_the_top_level_are_reported() {
    let text = r#" { "a" : 1 , "b":{"c":[{}]},"d":[] ,"e":"x" } "#;
    let mut found = Vec::new();
    let span = scan_members(text.as_bytes(), |member| found.push((&text[member.key], &text[member.value])));
    assert_eq!(span, Ok(1..text.len() - 1));
    assert_eq!(found, [("a", "1"), ("b", r#"{"c":[{}]}"#), ("d", "[]"), ("e", r#""x""#)]);
    let walked: Vec<_> =
        crate::walk::members(&text.as_bytes()[1..]).map(|member| &text[1..][member.value]).collect();
    assert_eq!(walked, found.iter().map(|(_, value)| *value).collect::<Vec<_>>());
}

#[test]
fn members_of_other_values_are_not() {
    for text in [r#"[{"a":1}]"#, "1", "{}", r#"[[],{"a":{"b":1}}]"#] {
        let result = scan_members(text.as_bytes(), |member| panic!("{text}: {member:?}"));
        assert!(result.is_ok());
    }
}

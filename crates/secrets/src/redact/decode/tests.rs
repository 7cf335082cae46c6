//! Spellings are undone, and every decoded byte knows where it was written.

use super::*;

fn everything() -> Reach {
    let all: Vec<[u8; 2]> = (0..=u8::MAX).map(|byte| [byte, byte]).collect();
    Reach::new(all.iter().map(|form| &form[..]))
}

#[track_caller]
fn check(text: &str, spelling: Spelling, expect: &str) {
    let decoded = decode(text.as_bytes(), spelling, &everything(), false);
    assert_eq!(String::from_utf8_lossy(&decoded.text), expect, "{text}");
}

#[test]
fn escapes_are_read_in_any_spelling() {
    let check = |text, expect| check(text, Spelling::Backslash, expect);
    check("plain", "plain");
    check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
    check(r"\u0041\u00e9\u00E9", "Aéé");
    check(r"\ud83d\ude00\uD83D\uDE00", "😀😀");
    check(r"\ud83d!\ude00", "\u{fffd}!\u{fffd}");
    check(r"\ud83d\u0041", "\u{fffd}A");
    check(r"\x41\u{41}\u{1f600}\'\-", "AA😀'-");
    check(r"\u{}\u{1234567}\u12g4\xg", "u{}u{1234567}u12g4xg");
    check("\\", "\\");
    check(r"\u004", r"\u004");
    check("\\é", "é");
}

#[test]
fn percent_signs_are_read_in_both_cases() {
    let check = |text, expect| check(text, Spelling::Percent, expect);
    check("%41%c3%A9%zz%4", "Aé%zz%4");
    check("100% %", "100% %");
    check("%2541", "%41");
}

#[test]
fn decoded_parts_lead_back_to_what_was_written() {
    #[track_caller]
    fn check(text: &str, part: &str, expect: &str) {
        let decoded = decode(text.as_bytes(), Spelling::Backslash, &everything(), false);
        let at = memchr::memmem::find(&decoded.text, part.as_bytes()).unwrap();
        assert_eq!(&text[decoded.written(at..at + part.len())], expect);
    }
    check(r"ab\ncd\u0041ef", "ab", "ab");
    check(r"ab\ncd\u0041ef", "b\nc", r"b\nc");
    check(r"ab\ncd\u0041ef", "\n", r"\n");
    check(r"ab\ncd\u0041ef", "cdA", r"cd\u0041");
    check(r"ab\ncd\u0041ef", "Aef", r"\u0041ef");
    check(r"ab\ncd\u0041ef", "ef", "ef");
    check(r"\n\n\n", "\n\n\n", r"\n\n\n");
    check(r"x\ud83d\ude00y", "😀", r"\ud83d\ude00");
}

#[test]
fn windows_reach_as_far_as_forms_do() {
    #[track_caller]
    fn check(text: &str, windows: &[Range<usize>]) {
        let reach = Reach::new([&b"12A345"[..]].into_iter());
        assert_eq!(decode(text.as_bytes(), Spelling::Backslash, &reach, false).windows, windows);
    }
    check(r"12A345\n\t\u0042", &[]);
    check(r"\n012\u0041345678902\x413", &[2..8, 12..18]);
    check(r"12\u0041\u0041345 12\u0041", &[0..6, 8..14]);
    check(r"13\u00413", &[]);
    check(r"12\u00414", &[]);
}

#[test]
fn what_could_go_on_is_left_open_if_more_may_come() {
    #[track_caller]
    fn check(text: &str, spelling: Spelling, open: Option<usize>) {
        let decoded = decode(text.as_bytes(), spelling, &everything(), true);
        assert_eq!(decoded.open, open, "{text}");
        assert_eq!(
            open.is_some(),
            decoded.text.len() < text.len() && !decoded.text.ends_with(b"!"),
            "{text}"
        );
    }
    for text in [r"a\", r"a\u", r"a\u0", r"a\u004", r"a\ud83d", r"a\ud83d\", r"a\ud83d\ud", r"a\x4", r"a\u{4"]
    {
        check(text, Spelling::Backslash, Some(1));
    }
    check(r"a\n!", Spelling::Backslash, None);
    check(r"a\ud83d!", Spelling::Backslash, None);
    check("a%", Spelling::Percent, Some(1));
    check("a%4", Spelling::Percent, Some(1));
    check("a%41!", Spelling::Percent, None);
}

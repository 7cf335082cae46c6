//! JSON as people read it: indented, with every value exactly as it was sent.

use toolgate_wire::Raw;

/// JSON text indented by two. Nothing is parsed, so no number becomes another one.
pub fn pretty(raw: &Raw) -> String {
    pretty_start(raw, usize::MAX).0
}

/// The same, and whether it is all of it: behind so many bytes it goes no further. A short text that is deep becomes a
/// hundred times as long.
pub fn pretty_start(raw: &Raw, most: usize) -> (String, bool) {
    let mut out = String::new();
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut letters = raw.as_str().chars().peekable();
    while let Some(letter) = letters.next() {
        if out.len() > most {
            return (out, false);
        }
        if in_string {
            out.push(letter);
            in_string = escaped || letter != '"';
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            ' ' | '\t' | '\r' | '\n' => {}
            '{' | '[' => {
                out.push(letter);
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = letter == '"';
                out.push(letter);
            }
        }
    }
    (out, true)
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_as_they_were_sent() {
        #[track_caller]
        fn check(json: &'static str, expect: &str) {
            assert_eq!(pretty(&Raw::literal(json)), expect);
        }
        check("{}", "{}");
        check("[ ]", "[]");
        check(r#"{"n":123456789012345678901234567890}"#, "{\n  \"n\": 123456789012345678901234567890\n}");
        check(
            r#"{ "a" : [1.00, {"b":"x,{}:\"\\"}] }"#,
            "{\n  \"a\": [\n    1.00,\n    {\n      \"b\": \"x,{}:\\\"\\\\\"\n    }\n  ]\n}",
        );
        check(r#""\\""#, r#""\\""#);
    }

    #[test]
    fn what_becomes_too_long_is_left_off() {
        let deep = format!("{}{}{}", "[".repeat(100), vec!["0"; 10_000].join(","), "]".repeat(100));
        let deep = Raw::parse(deep.into()).unwrap();
        let (start, whole) = pretty_start(&deep, 1000);
        assert!(!whole && (1000..2000).contains(&start.len()), "{}", start.len());
        assert!(pretty(&deep).starts_with(&start));
        assert_eq!(pretty_start(&Raw::literal("[1]"), 7), ("[\n  1\n]".into(), true));
    }
}

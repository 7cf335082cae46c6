//! Looks for secrets as a curious reader would: decodes everything that can be decoded, and searches it.
//!
//! It shares no code with the redaction that it judges.

use memchr::memmem;

/// How deep texts inside texts are read.
const DEPTH: usize = 5;

/// How a secret can be read from a text, if it can.
pub(crate) fn leak(text: &[u8], secret: &str) -> Option<String> {
    let secret = secret.trim();
    let mut level = vec![(String::from("text"), text.to_vec())];
    for _ in 0..=DEPTH {
        let mut next: Vec<(String, Vec<u8>)> = Vec::new();
        for (path, text) in level {
            if let Some(how) = visible(&text, secret.as_bytes()) {
                return Some(format!("{path} > {how}"));
            }
            for (name, decoded) in [("unescaped", unescape(&text)), ("unpercented", unpercent(&text))] {
                if decoded != text && next.iter().all(|(_, other)| *other != decoded) {
                    next.push((format!("{path} > {name}"), decoded));
                }
            }
        }
        level = next;
    }
    None
}

#[track_caller]
pub(crate) fn assert_hidden(text: &[u8], secret: &str) {
    if let Some(how) = leak(text, secret) {
        let shown: String = String::from_utf8_lossy(text).chars().take(600).collect();
        panic!("a secret can be read as {how} from {shown}");
    }
}

/// How a secret can be read without looking behind escapes.
fn visible(text: &[u8], secret: &[u8]) -> Option<&'static str> {
    if contains(text, secret) {
        return Some("itself");
    }
    if runs(text, |byte| byte.is_ascii_hexdigit()).any(|run| hex_shows(run, secret)) {
        return Some("hex");
    }
    if base64_runs(text).any(|run| base64_shows(run, secret)) {
        return Some("base64");
    }
    let joined: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    base64_runs(&joined).any(|run| base64_shows(run, secret)).then_some("base64 in lines")
}

fn base64_runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    runs(text, |byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))
}

fn contains(text: &[u8], secret: &[u8]) -> bool {
    memmem::find(text, secret).is_some()
}

fn runs(text: &[u8], keep: impl Fn(u8) -> bool) -> impl Iterator<Item = &[u8]> {
    text.split(move |byte| !keep(*byte)).filter(|run| run.len() >= 8)
}

fn hex_shows(run: &[u8], secret: &[u8]) -> bool {
    (0..2).any(|from| {
        let pairs = run[from..].chunks_exact(2);
        let bytes: Vec<u8> = pairs.map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])).collect();
        contains(&bytes, secret)
    })
}

fn nibble(digit: u8) -> u8 {
    (digit as char).to_digit(16).unwrap() as u8
}

fn base64_shows(run: &[u8], secret: &[u8]) -> bool {
    (0..4).any(|from| {
        let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
        for character in &run[from.min(run.len())..] {
            bits = bits << 6 | sextet(*character);
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push((bits >> count) as u8);
            }
        }
        contains(&bytes, secret)
    })
}

fn sextet(character: u8) -> u32 {
    u32::from(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    })
}

fn unpercent(text: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match &text[at..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(nibble(*high) << 4 | nibble(*low));
                at += 3;
            }
            _ => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let (mut out, mut at): (Vec<u8>, usize) = (Vec::new(), 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest[0] != b'\\' || rest.len() < 2 {
            out.push(rest[0]);
            at += 1;
            continue;
        }
        let unit = |rest: &[u8]| -> Option<u16> {
            let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
            u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
        };
        let units: Vec<u16> =
            [unit(rest), rest.get(6..).and_then(unit)].into_iter().map_while(|it| it).collect();
        let decoded = char::decode_utf16(units.iter().copied()).next().and_then(Result::ok);
        if let Some(decoded) = decoded {
            out.extend(decoded.to_string().into_bytes());
            at += 6 * decoded.len_utf16();
            continue;
        }
        out.push(match rest[1] {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            other => other,
        });
        at += 2;
    }
    out
}

#[test]
fn the_checker_sees_every_encoding() {
    let secret = "hunter2-hunter2/é";
    for text in [
        "x hunter2-hunter2/é",
        "9968756e746572322d68756e746572322Fc3a900",
        "x68756E746572322D68756E746572322FC3A9",
        "aHVudGVyMi1odW50ZXIyL8Op",
        "eWh1bnRlcjItaHVudGVyMi_DqQ==",
        "eXlodW50ZXIyLWh1bnRlcjIvw6k=",
        "eXlodW50ZXIy\r\n  LWh1bnRlcjIvw6k=",
        "%68unter2-hunter2%2f%C3%A9",
        r#"{"a":"hunter2\u002dhunter2\/\u00e9"}"#,
        r#"{"a":"{\"b\":\"hunter2\\u002dhunter2\\/\\u00e9\"}"}"#,
        "%22hunter2%5Cu002dhunter2/%C3%A9",
    ] {
        assert!(leak(text.as_bytes(), secret).is_some(), "{text}");
    }
    for text in ["hunter2-hunter2/e", "aHVudGVyMi1odW50[REDACTED]ZXIyL8Op", "68756e746572322d"] {
        assert_eq!(leak(text.as_bytes(), secret), None);
    }
}

//! In which characters a body is written: its mark, its header, its `meta`, else a guess.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far a page is searched for what it says of its characters.
const SEARCHED: usize = 4096;

/// The text of a body. What is no character of its encoding becomes U+FFFD.
pub(super) fn decode(body: &[u8], header: Option<&str>, is_page: bool) -> String {
    let named = |label: &str| Encoding::for_label(label.as_bytes());
    let of_page = || is_page.then(|| declared(body)).flatten().and_then(|label| named(&label)).map(readable);
    let guess = || if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    let encoding = header.and_then(named).or_else(of_page).unwrap_or_else(guess);
    // A mark at the beginning counts more than all that is said.
    encoding.decode(body).0.into_owned()
}

/// A page whose `meta` could be read is not written in UTF-16, whatever it says.
fn readable(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding }
}

/// What the first `meta` that says so names as the character set.
fn declared(body: &[u8]) -> Option<String> {
    let start = &body[..body.len().min(SEARCHED)];
    let text: String = start.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let mut rest = text.as_str();
    loop {
        let at = rest.find("<meta")?;
        // What stands in a comment is not said.
        if let Some(comment) = rest.find("<!--").filter(|comment| *comment < at) {
            rest = &rest[comment + 4..];
            rest = &rest[rest.find("-->")?..];
            continue;
        }
        let tag = &rest[at..];
        let tag = &tag[..tag.find('>').unwrap_or(tag.len())];
        if let Some(label) = label(tag) {
            return Some(label);
        }
        rest = &rest[at + "<meta".len()..];
    }
}

/// The value behind `charset=` in a tag.
fn label(tag: &str) -> Option<String> {
    let value = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?;
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || "\"';/>".contains(c)).unwrap_or(value.len());
    Some(value[..end].to_owned()).filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_in_the_characters_that_it_is_written_in() {
        #[track_caller]
        fn check(body: &[u8], header: Option<&str>, expect: &str) {
            assert_eq!(decode(body, header, true), expect, "{header:?}");
        }
        check("é".as_bytes(), None, "é");
        check(b"caf\xe9", None, "café");
        check(b"caf\xe9", Some("iso-8859-1"), "café");
        check(b"\x93\xfa\x96\x7b", Some("Shift_JIS"), "日本");
        check(b"\xc6\xfc\xcb\xdc", Some("euc-jp"), "日本");
        check(b"<meta charset=koi8-r>\xd0\xd2", None, "<meta charset=koi8-r>пр");
        check(b"<META CHARSET = 'koi8-r' />\xd0", None, "<META CHARSET = 'koi8-r' />п");
        let equiv = r#"<meta http-equiv="content-type" content="text/html; charset=gbk">"#;
        check(&[equiv.as_bytes(), b"\xc4\xe3"].concat(), None, &format!("{equiv}你"));
        // The header counts more than the page, and the mark more than the header.
        check(b"<meta charset=koi8-r>\xc3\xa9", Some("utf-8"), "<meta charset=koi8-r>é");
        check(b"\xEF\xBB\xBF\xc3\xa9", Some("iso-8859-1"), "é");
        check(b"\xFF\xFEh\0i\0", None, "hi");
        // What is no name of an encoding, or stands in a comment, is not heard.
        check("é".as_bytes(), Some("nonsense"), "é");
        check("<!-- <meta charset=koi8-r> -->é".as_bytes(), None, "<!-- <meta charset=koi8-r> -->é");
        check("<meta charset=utf-16>é".as_bytes(), None, "<meta charset=utf-16>é");
        check("<meta charset=".as_bytes(), None, "<meta charset=");
        check("<!-- <meta".as_bytes(), None, "<!-- <meta");
        check("<meta charset=koi8-r".as_bytes(), Some("utf-8"), "<meta charset=koi8-r");
    }
}

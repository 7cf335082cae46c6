//! Paths as URIs and back: percent-encoding.

/// Writes a path as the path of a URI (RFC 3986): what is no `pchar` and no `/` is encoded.
pub(crate) fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Reads the path of a URI. Nothing if an escape is cut or the result is not UTF-8; what should have been
/// encoded and is not, stands for itself.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            out.push(hex(bytes.next()?)? << 4 | hex(bytes.next()?)?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_as_it_was() {
        #[track_caller]
        fn check(path: &str, expect: &str) {
            assert_eq!(encode(path), expect);
            assert_eq!(decode(expect).as_deref(), Some(path));
        }
        check("notes/today.md", "notes/today.md");
        check("a b?#[%].md", "a%20b%3F%23%5B%25%5D.md");
        check("größe", "gr%C3%B6%C3%9Fe");
        check("it's (1)+@.txt", "it's%20(1)+@.txt");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["%", "%4", "%zz", "%ff", "a%C3"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("a%2fb c?").as_deref(), Some("a/b c?"));
    }
}

//! A URI as a source may read it: decoded, without `.` and `..`.

/// The plain spelling of a URI, where it is another one than the text.
pub(crate) fn plain_uri(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let tricky = scheme.bytes().any(|byte| byte.is_ascii_uppercase())
        || rest.contains(['%', '\\'])
        || ["/.", "//"].iter().any(|piece| path.contains(piece));
    if !tricky {
        return None;
    }
    let decoded = decode(rest).replace('\\', "/");
    let (root, path) = match decoded.strip_prefix("//") {
        Some(path) => ("//", path),
        None => ("", decoded.as_str()),
    };
    let plain = format!("{}:{root}{}", scheme.to_ascii_lowercase(), without_dots(path));
    (plain != uri).then_some(plain)
}

/// Every `%41` becomes its byte, again and again while something changes: a source may decode twice.
fn decode(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..3 {
        let decoded = decode_once(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    text
}

fn decode_once(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let byte = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The path without `.`, `..` and doubled slashes; the first part stays, be it a host or empty.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut all = path.split('/').enumerate().peekable();
    while let Some((place, part)) = all.next() {
        let last = all.peek().is_none();
        match part {
            "" if place > 0 && !last => {}
            "." | ".." => {
                if part == ".." && parts.len() > 1 {
                    parts.pop();
                }
                if last {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_read_as_a_source_may_read_it() {
        #[track_caller]
        fn check(uri: &str, expect: Option<&str>) {
            assert_eq!(plain_uri(uri).as_deref(), expect, "{uri}");
        }
        check("file:///etc/passwd", None);
        check("note:a", None);
        check("x", None);
        check("", None);
        check(":", None);
        check("a:é/é", None);
        check("file:///docs/../etc/passwd", Some("file:///etc/passwd"));
        check("file:///../../etc/passwd", Some("file:///etc/passwd"));
        check("file:///docs/./a", Some("file:///docs/a"));
        check("file:///docs//a", Some("file:///docs/a"));
        check("FILE:///a", Some("file:///a"));
        check("file:///%2e%2e/etc", Some("file:///etc"));
        check("file:///a%252fb", Some("file:///a/b"));
        check("file:///a%2", None);
        check("file:///a\\..\\b", Some("file:///b"));
        check("file:///etc/x/..", Some("file:///etc/"));
        check("file:///./etc/", Some("file:///etc/"));
        check("docs://host/a/../b", Some("docs://host/b"));
    }
}

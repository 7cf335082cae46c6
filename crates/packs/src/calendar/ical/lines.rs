//! Content lines: unfolding, names, parameters, values.

use std::borrow::Cow;

/// A line: `NAME;PARAM=value:VALUE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Property<'a> {
    pub(crate) name: &'a str,
    params: &'a str,
    pub(crate) value: &'a str,
}

/// Joins folded lines, of any number. It is done on bytes: some programs fold within a character.
pub(crate) fn unfold(body: &[u8]) -> String {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut bytes = Vec::with_capacity(body.len());
    for line in body.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line {
            [b' ' | b'\t', rest @ ..] if !bytes.is_empty() => bytes.extend_from_slice(rest),
            _ => {
                if !bytes.is_empty() {
                    bytes.push(b'\n');
                }
                bytes.extend_from_slice(line);
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl<'a> Property<'a> {
    /// Reads a line; nothing, if it is none.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let end = line.find([';', ':'])?;
        let (name, rest) = line.split_at(end);
        let mut quoted = false;
        let colon = rest.char_indices().find_map(|(place, letter)| {
            quoted ^= letter == '"';
            (letter == ':' && !quoted).then_some(place)
        })?;
        Some(Self {
            name: name.trim(),
            params: rest[..colon].trim_start_matches(';'),
            value: &rest[colon + 1..],
        })
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// A parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&'a str> {
        let mut quoted = false;
        let parts = self.params.split(move |letter| {
            quoted ^= letter == '"';
            letter == ';' && !quoted
        });
        let mut named = parts.filter_map(|part| part.split_once('='));
        let (_, value) = named.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
        Some(value.trim().trim_matches('"'))
    }

    /// The value as text, with its escapes undone.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        if !self.value.contains('\\') {
            return Cow::Borrowed(self.value);
        }
        let mut text = String::with_capacity(self.value.len());
        let mut letters = self.value.chars();
        while let Some(letter) = letters.next() {
            match (letter, letter == '\\') {
                (_, true) => match letters.next() {
                    Some('n' | 'N') => text.push('\n'),
                    Some(other) => text.push(other),
                    None => {}
                },
                (letter, false) => text.push(letter),
            }
        }
        Cow::Owned(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_lines_are_joined_and_only_one_blank_is_taken() {
        #[track_caller]
        fn check(body: &[u8], expect: &str) {
            assert_eq!(unfold(body), expect);
        }
        check(b"", "");
        check(b"A:1\r\nB:2\r\n", "A:1\nB:2\n");
        check(b"A:one\r\n  two\r\n\tthree\r\nB:2", "A:one twothree\nB:2");
        check(b"A:one\n two", "A:onetwo");
        check(b" A:1", " A:1");
        check(b"\xEF\xBB\xBFA:1", "A:1");
        check(b"A:caf\xc3\r\n \xa9", "A:caf\u{e9}");
        check(b"A:caf\xe9", "A:caf\u{fffd}");
        check("A:\r\n \r\n ".as_bytes(), "A:");
    }

    #[test]
    fn lines_are_taken_apart_and_quotes_count() {
        #[track_caller]
        fn check(line: &str, name: &str, zone: Option<&str>, text: &str) {
            let property = Property::parse(line).unwrap();
            assert_eq!((property.name, property.param("TZID"), &*property.text()), (name, zone, text));
        }
        check("SUMMARY:a: b; c", "SUMMARY", None, "a: b; c");
        check("DTSTART;TZID=Europe/Berlin:20260101", "DTSTART", Some("Europe/Berlin"), "20260101");
        check("DTSTART;X=\"a;TZID=no:\";tzid=\"A: B; C\":2", "DTSTART", Some("A: B; C"), "2");
        check(
            r"SUMMARY:one\, two\; three\\n\nfour\Nfive\",
            "SUMMARY",
            None,
            "one, two; three\\n\nfour\nfive",
        );
        check("X:", "X", None, "");
        for line in ["", "no line", "A;B=\"unclosed:1"] {
            assert_eq!(Property::parse(line), None, "{line}");
        }
    }
}

//! Front matter: the part of YAML that notes use, read line by line.
//!
//! Keys at the left margin, with a value, a list in brackets, or a list on lines of its own. What is deeper than
//! that is kept as text. Nothing is referred to and nothing is repeated, so no text can grow here.

/// The most properties of one note, and the most values of one property.
const MOST: usize = 200;
/// The most characters that are kept of one value.
const LONGEST: usize = 500;

/// Front matter, and where what follows it begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatter<'a> {
    inner: &'a str,
    pub(crate) end: usize,
}

/// A property of a note.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// The front matter of a note: between a first line `---` and the next.
pub(crate) fn front_matter(text: &str) -> Option<FrontMatter<'_>> {
    let mark = text.strip_prefix('\u{feff}').map_or(0, |_| '\u{feff}'.len_utf8());
    let mut at = mark;
    let mut start = None;
    for line in text[mark..].split_inclusive('\n') {
        let bare = line.trim_end();
        match start {
            None if bare == "---" => start = Some(at + line.len()),
            None => return None,
            Some(start) if bare == "---" || bare == "..." => {
                return Some(FrontMatter { inner: &text[start..at], end: at + line.len() });
            }
            Some(_) => {}
        }
        at += line.len();
    }
    None
}

impl FrontMatter<'_> {
    pub(super) fn properties(&self) -> Vec<Property> {
        let mut all: Vec<Property> = Vec::new();
        for line in self.inner.lines() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let inner = line.starts_with([' ', '\t']) || trimmed.starts_with("- ") || trimmed == "-";
            if !inner && all.len() < MOST {
                all.extend(property(trimmed));
            }
            let open = all.last_mut().filter(|last| inner && last.values.len() < MOST);
            if let Some(last) = open {
                last.values.extend(scalar(trimmed.strip_prefix('-').unwrap_or(trimmed)));
            }
        }
        all
    }
}

fn property(line: &str) -> Option<Property> {
    let (key, value) = line.split_once(':')?;
    let key = unquoted(key.trim());
    if key.is_empty() || !(value.is_empty() || value.starts_with([' ', '\t'])) {
        return None;
    }
    let value = value.trim();
    let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    let values = match list {
        Some(list) => items(list),
        // A text over several lines follows.
        None if ["|", ">", "|-", ">-", "|+", ">+"].contains(&value) => Vec::new(),
        None => scalar(value).into_iter().collect(),
    };
    Some(Property { key: cut(key), values })
}

/// What stands between commas, those in quotes left alone.
fn items(list: &str) -> Vec<String> {
    let mut quote = None;
    let parts = list.split(|c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(_) | None => {}
        }
        c == ',' && quote.is_none()
    });
    parts.take(MOST).filter_map(scalar).collect()
}

fn scalar(text: &str) -> Option<String> {
    let text = text.trim();
    let text = match text.split_once(" #") {
        Some((value, _)) if !text.starts_with(['"', '\'']) => value.trim_end(),
        _ => text,
    };
    let text = unquoted(text);
    (!text.is_empty()).then(|| cut(text))
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &[&str])]) {
        let text = format!("---\n{text}\n---\nbody");
        let found = front_matter(&text).unwrap();
        assert_eq!(&text[found.end..], "body");
        let found = found.properties();
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|property| (property.key.as_str(), property.values.iter().map(String::as_str).collect()))
            .collect();
        let expect: Vec<(&str, Vec<&str>)> =
            expect.iter().map(|(key, values)| (*key, values.to_vec())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn values_and_lists_are_read() {
        check("a: 1\nb: 'x: y'\n\"c d\": \"e\"", &[("a", &["1"]), ("b", &["x: y"]), ("c d", &["e"])]);
        check("tags: [a, \"b, c\", 'd']", &[("tags", &["a", "b, c", "d"])]);
        check("tags:\n- a\n  - b\nx:", &[("tags", &["a", "b"]), ("x", &[])]);
        check("# note\na: b # why\nurl: https://x/y#z", &[("a", &["b"]), ("url", &["https://x/y#z"])]);
        check("text: |\n  one\n  two", &[("text", &["one", "two"])]);
        check("map:\n  in: 1", &[("map", &["in: 1"])]);
        check("no colon\na:b\n: x\n[", &[]);
        check("größe: 大きい", &[("größe", &["大きい"])]);
    }

    #[test]
    fn only_what_begins_and_ends_is_front_matter() {
        let end = |text: &str| front_matter(text).map(|found| found.end);
        assert_eq!(end("---\r\na: b\r\n---\r\nx"), Some(16));
        assert_eq!(end("\u{feff}---\n---\n"), Some(11));
        assert_eq!(end("---\n---"), Some(7));
        assert_eq!(end("---\n...\n"), Some(8));
        for text in ["", "---", "--- \na", "a\n---\n---\n", "\n---\n---\n", "----\n---\n"] {
            assert_eq!(end(text), None, "{text:?}");
        }
    }

    #[test]
    fn much_of_it_stays_bounded() {
        let text = format!("---\n{}a: {}\n---\n", "k: v\n".repeat(5_000), "x".repeat(5_000));
        let found = front_matter(&text).unwrap().properties();
        assert_eq!(found.len(), MOST);
        let long = format!("---\na: {}\nb:\n{}---\n", "é".repeat(5_000), "- x\n".repeat(5_000));
        let found = front_matter(&long).unwrap().properties();
        assert_eq!((found[0].values[0].chars().count(), found[1].values.len()), (LONGEST, MOST));
    }
}

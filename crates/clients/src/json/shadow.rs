//! A text for the parser, which refuses halves of surrogate pairs. JavaScript writes and reads them, so files have them.

use std::borrow::Cow;

/// The same text, byte for byte as long, with each escaped half of a pair as the escaped replacement character.
pub(super) fn of(text: &str) -> Cow<'_, str> {
    let halves = halves(text);
    if halves.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shadow = text.to_owned();
    for at in halves {
        shadow.replace_range(at..at + ESCAPE, "\\ufffd");
    }
    Cow::Owned(shadow)
}

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Where the escapes begin that are one half of a pair without the other.
fn halves(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('\\') {
        at += next;
        match (unit(text, at), unit(text, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                found.push(at);
                at += ESCAPE;
            }
            (Some(_), _) => at += ESCAPE,
            (None, _) => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    found
}

/// What the escape says that begins here, if one does.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(of(text), expect);
    }

    #[test]
    fn only_halves_of_pairs_are_replaced() {
        check(r"plain \n é \u00e9", r"plain \n é \u00e9");
        check(r"\ud83d\ude00", r"\ud83d\ude00");
        check(r"\ud83d", r"\ufffd");
        check(r"\uD83Dx\uDE00", r"\ufffdx\ufffd");
        check(r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00");
        check(r"\\ud83d", r"\\ud83d");
        check(r"\\\ud83d", r"\\\ufffd");
        check(r"\é\ud83", r"\é\ud83");
        check("\\", "\\");
    }
}

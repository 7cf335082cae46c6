//! Text of others as people read it: with letters spelled out that nobody sees.

/// What sort of invisible character it is, if it is one that no honest text needs.
pub fn unseen(letter: char) -> Option<&'static str> {
    match letter {
        '\n' | '\r' | '\t' => None,
        '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{00AD}' | '\u{180E}' => {
            Some("zero-width character")
        }
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{061C}' => {
            Some("mark that turns the direction of text")
        }
        '\u{E0000}'..='\u{E007F}' => Some("tag character"),
        '\u{E0100}'..='\u{E01EF}' => Some("variation selector"),
        letter if letter.is_control() => Some("control character"),
        _ => None,
    }
}

/// A text that a terminal can show: what is invisible is spelled out. Its lines stay.
pub fn visible(text: &str) -> String {
    spelled(text, |letter| !matches!(letter, '\n' | '\r' | '\t'))
}

/// The same on one line: its breaks are spelled out too, so that nothing in it can be taken for a line of ours.
pub fn visible_line(text: &str) -> String {
    spelled(text, |_| true)
}

fn spelled(text: &str, may_be_spelled: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_shown(letter) || !may_be_spelled(letter) {
            true => out.push(letter),
            false => out.extend(letter.escape_unicode()),
        }
    }
    out
}

/// Whether a letter can be seen for what it is, and leaves those around it where they are.
pub(crate) fn is_shown(letter: char) -> bool {
    let is_blank = matches!(letter, '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{2028}' | '\u{2029}'
        | '\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0080}'..='\u{E0FFF}');
    !is_blank && !letter.is_control() && unseen(letter).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_spelled_out() {
        #[track_caller]
        fn check(text: &str, expect: &str, on_one_line: &str) {
            assert_eq!((&*visible(text), &*visible_line(text)), (expect, on_one_line));
        }
        check("größer 漢字 😀", "größer 漢字 😀", "größer 漢字 😀");
        check(
            "a\u{202e}b\u{200b}c\u{e0041}d",
            r"a\u{202e}b\u{200b}c\u{e0041}d",
            r"a\u{202e}b\u{200b}c\u{e0041}d",
        );
        check("a\u{1b}[2J\u{9b}", r"a\u{1b}[2J\u{9b}", r"a\u{1b}[2J\u{9b}");
        check("a\n\tb\u{2028}c\u{3164}", "a\n\tb\\u{2028}c\\u{3164}", r"a\u{a}\u{9}b\u{2028}c\u{3164}");
    }
}

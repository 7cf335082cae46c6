//! Text of others as people read it: with letters spelled out that nobody sees.

/// Ask for the emoji before them to be shown in black and white, or in colours: invisible, and honest behind what they
/// are for.
const LOOKS: [char; 2] = ['\u{FE0E}', '\u{FE0F}'];

/// The letters of a text that nobody sees and no honest text needs, and what sort each is.
pub fn hidden(text: &str) -> impl Iterator<Item = (char, &'static str)> {
    let hidden = in_place(text).filter(|(_, is_shown)| !is_shown);
    hidden.filter_map(|(letter, _)| Some((letter, unseen(letter)?)))
}

/// What sort of invisible character it is, if it is one that no honest text needs wherever it stands.
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
        '\u{FE00}'..='\u{FE0F}' | '\u{180B}'..='\u{180D}' | '\u{180F}' | '\u{E0100}'..='\u{E01EF}' => {
            Some("variation selector")
        }
        '\u{1BCA0}'..='\u{1BCA3}' => Some("mark of shorthand"),
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
    for (letter, is_shown) in in_place(text) {
        match is_shown || !may_be_spelled(letter) {
            true => out.push(letter),
            false => out.extend(letter.escape_unicode()),
        }
    }
    out
}

/// The letters of a text, and whether each can be seen for what it is where it stands.
pub(crate) fn in_place(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut letters = text.chars().peekable();
    let mut before = None;
    std::iter::from_fn(move || {
        let letter = letters.next()?;
        let belongs =
            LOOKS.contains(&letter) && before.is_some_and(|before| is_emoji(before, letters.peek()));
        before = Some(letter);
        Some((letter, belongs || is_shown(letter)))
    })
}

/// Whether a letter looks as it is asked to; digits are in a key only.
fn is_emoji(letter: char, behind: Option<&char>) -> bool {
    match letter {
        '0'..='9' | '#' | '*' => behind == Some(&'\u{20E3}'),
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24C2}' => true,
        '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}' => true,
        '\u{2934}'
        | '\u{2935}'
        | '\u{2B00}'..='\u{2BFF}'
        | '\u{3030}'
        | '\u{303D}'
        | '\u{3297}'
        | '\u{3299}' => true,
        '\u{1F000}'..='\u{1FAFF}' => true,
        _ => false,
    }
}

/// Whether a letter can be seen for what it is, and leaves those around it where they are.
fn is_shown(letter: char) -> bool {
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
        check("vs\u{fe00}\u{fe0e}\u{fe0f}", r"vs\u{fe00}\u{fe0e}\u{fe0f}", r"vs\u{fe00}\u{fe0e}\u{fe0f}");
        check(
            "\u{180b}\u{180d}\u{180f}\u{1bca0}\u{1bca3}",
            r"\u{180b}\u{180d}\u{180f}\u{1bca0}\u{1bca3}",
            r"\u{180b}\u{180d}\u{180f}\u{1bca0}\u{1bca3}",
        );
        // Behind an emoji it is honest, once.
        check("▶\u{fe0e}", "▶\u{fe0e}", "▶\u{fe0e}");
        check("❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}");
        check(
            "❤\u{fe0f}\u{fe0f}1\u{fe0f}2",
            "❤\u{fe0f}\\u{fe0f}1\\u{fe0f}2",
            "❤\u{fe0f}\\u{fe0f}1\\u{fe0f}2",
        );
        check("a\n\tb\u{2028}c\u{3164}", "a\n\tb\\u{2028}c\\u{3164}", r"a\u{a}\u{9}b\u{2028}c\u{3164}");
    }
}

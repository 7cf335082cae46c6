//! Texts of others as they are passed on: no longer than anyone reads, and nothing in them that hides.

/// How much of a line is told.
const MOST_LINE: usize = 200;

/// How much of a text is told.
const MOST_TEXT: usize = 1_500;

/// A text as one line.
pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&visible(&words.join(" ")), MOST_LINE)
}

/// A text with its lines.
pub(super) fn text(text: &str) -> String {
    cut(visible(text).trim(), MOST_TEXT)
}

/// Without what nobody sees, or what turns the direction of reading.
fn visible(text: &str) -> String {
    let hides = |letter: char| {
        (letter.is_control() && letter != '\n' && letter != '\t')
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
            || matches!(letter, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().filter(|letter| !hides(*letter)).collect()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_whole_but_not_endless() {
        assert_eq!(line(" a\r\n\u{202e}b\u{200b}\tc\u{7} "), "a b c");
        assert_eq!(text("a\r\nb\u{1b}[31m\n"), "a\nb[31m");
        assert_eq!(line(&"ä".repeat(300)), "ä".repeat(MOST_LINE) + "…");
        assert_eq!(text(&"ä".repeat(3_000)).chars().count(), MOST_TEXT + 1);
    }
}

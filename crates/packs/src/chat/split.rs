//! A long text as several messages: at line ends where possible, never within a character, and with every block
//! of code whole in each message that holds a part of it.
//!
//! Chat services take three backticks for a block of code wherever they stand, so lines do not matter here.

/// The longest run of backticks that opens a block.
const LONGEST_MARK: usize = 16;

/// The longest name of a language.
const LONGEST_LANGUAGE: usize = 24;

/// What a message may need at its end: a line end and a mark.
const RESERVE: usize = 1 + LONGEST_MARK;

/// A block of code that is open.
#[derive(Debug, Clone)]
struct Block {
    mark: usize,
    language: String,
    /// Where it was opened, and where its content begins, if that is in the same piece.
    opened: Option<(usize, usize)>,
}

/// How long a text is for a chat service, in UTF-16 units.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Splits a text into messages of at most `limit` units, which is a few hundred or more. Messages of nothing but
/// space are left out.
pub(super) fn split(text: &str, limit: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut open: Option<Block> = None;
    let mut rest = text;
    while !rest.is_empty() {
        let head = open.as_ref().map(Block::head).unwrap_or_default();
        let room = limit.saturating_sub(units(&head));
        if units(rest) <= room {
            push(&mut parts, &head, rest, "");
            break;
        }
        let (piece, behind, after) = cut(rest, room.saturating_sub(RESERVE), open);
        let tail = after.as_ref().map(Block::tail).unwrap_or_default();
        push(&mut parts, &head, piece, &tail);
        (rest, open) = (behind, after);
    }
    parts
}

fn push(parts: &mut Vec<String>, head: &str, piece: &str, tail: &str) {
    if !piece.trim().is_empty() {
        parts.push(format!("{head}{piece}{tail}"));
    }
}

impl Block {
    fn head(&self) -> String {
        format!("{}{}\n", "`".repeat(self.mark), self.language)
    }

    fn tail(&self) -> String {
        format!("\n{}", "`".repeat(self.mark))
    }
}

/// A first piece of at most `window` units, or a mark more; what is behind it; and the block that is open in between.
fn cut(text: &str, window: usize, open: Option<Block>) -> (&str, &str, Option<Block>) {
    let (end, behind) = place(text, window, open.is_some());
    let after = scan(text, end, open.clone());
    let Some(block) = &after else { return (&text[..end], &text[behind..], None) };
    // A block that was only just opened is opened in the next message.
    if let Some((opened, content)) = block.opened
        && opened > 0
        && text[content.min(end)..end].trim().is_empty()
    {
        return (&text[..opened], &text[opened..], scan(text, opened, open));
    }
    // One that is about to end ends here.
    let space = text[end..].len() - text[end..].trim_start().len();
    let closes = end + space;
    let run = text[closes..].bytes().take_while(|byte| *byte == b'`').count();
    if run >= block.mark && units(&text[end..closes + run]) <= RESERVE {
        return (&text[..closes + run], &text[closes + run..], None);
    }
    (&text[..end], &text[behind..], after)
}

/// Where a piece ends, and where the next begins.
fn place(text: &str, window: usize, in_block: bool) -> (usize, usize) {
    let mut used = 0;
    let fits = |&(_, c): &(usize, char)| {
        used += c.len_utf16();
        used <= window
    };
    let most = text.char_indices().take_while(fits).last().map_or(0, |(at, c)| at + c.len_utf8());
    let least = most / 2;
    if let Some(end) = text[..most].rfind('\n').filter(|end| *end > least) {
        return (end, end + 1);
    }
    // In a block of code a space may mean something.
    let opens = in_block || text[..most].contains("```");
    if let Some(end) = text[..most].rfind(' ').filter(|end| *end > least) {
        return if opens { (end + 1, end + 1) } else { (end, end + 1) };
    }
    let starts = text[..most].char_indices().map(|(at, _)| at).rev();
    let mut places = std::iter::once(most).chain(starts).take_while(|at| *at > least);
    let end = places.find(|at| parts_at(text, *at)).unwrap_or(most);
    (end, end)
}

/// Whether what stands before and behind a place may be parted.
fn parts_at(text: &str, at: usize) -> bool {
    let (before, behind) = (text[..at].chars().next_back(), text[at..].chars().next());
    let joins = |c: char| matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{300}'..='\u{36f}' | '\u{1f3fb}'..='\u{1f3ff}');
    match (before, behind) {
        (Some('`'), Some('`')) | (Some('\u{200d}'), _) => false,
        (_, Some(behind)) => !joins(behind),
        (_, None) => true,
    }
}

/// Which block is open at a place of a text.
fn scan(text: &str, end: usize, open: Option<Block>) -> Option<Block> {
    let mut open = open.map(|block| Block { opened: None, ..block });
    let mut at = 0;
    while let Some(found) = text[at..end].find("```") {
        let start = at + found;
        let run = text[start..end].bytes().take_while(|byte| *byte == b'`').count();
        at = start + run;
        open = match open {
            None if run <= LONGEST_MARK => {
                let language = language(&text[at..]);
                let content = at + language.len();
                Some(Block { mark: run, language: language.to_owned(), opened: Some((start, content)) })
            }
            Some(block) if run >= block.mark => None,
            same => same,
        };
    }
    open
}

/// The language of a block: a word that ends its line.
fn language(text: &str) -> &str {
    let line = text.split('\n').next().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || "_+-.#".contains(c);
    let is_word = line.len() <= LONGEST_LANGUAGE && line.chars().all(fits) && line.len() < text.len();
    if is_word { line } else { "" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bare(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn a_short_text_is_one_message_as_it_is() {
        assert_eq!(split("hello\n\n```rs\nlet a;\n", 2000), ["hello\n\n```rs\nlet a;\n"]);
        assert_eq!(split(&"x".repeat(2000), 2000).len(), 1);
        assert_eq!(split("", 2000), Vec::<String>::new());
        assert_eq!(split(" \n\t", 2000), Vec::<String>::new());
    }

    #[test]
    fn lines_then_words_then_characters_are_kept_whole() {
        let lines = split(&"a line of text\n".repeat(40), 300);
        assert!(lines.iter().all(|part| part.ends_with("text") || part.ends_with("text\n")), "{lines:?}");
        let words = split(&"word ".repeat(100), 300);
        assert!(words.iter().all(|part| part.trim_end().ends_with("word")), "{words:?}");
        let family = "👩\u{200d}👩\u{200d}👧";
        let faces = split(&family.repeat(100), 300);
        assert!(faces.iter().all(|part| part.starts_with('👩') && part.ends_with('👧')), "{faces:?}");
        assert_eq!(faces.concat(), family.repeat(100));
    }

    #[test]
    fn characters_beyond_the_first_plane_count_twice() {
        let parts = split(&"😀".repeat(1001), 2000);
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| units(part) <= 2000));
        assert_eq!(parts.concat(), "😀".repeat(1001));
    }

    #[test]
    fn a_block_of_code_is_closed_and_opened_again() {
        let code = "let answer = 42;\n".repeat(60);
        let parts = split(&format!("Look:\n```rust\n{code}```\nThat was it."), 400);
        assert!(parts.len() > 2);
        for (number, part) in parts.iter().enumerate() {
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
            assert!(number == 0 || part.starts_with("```rust\n"), "{part}");
            assert!(units(part) <= 400);
        }
        let lines: usize = parts.iter().map(|part| part.matches("let answer = 42;").count()).sum();
        assert_eq!(lines, 60);
        assert!(parts.last().unwrap().ends_with("```\nThat was it."));
    }

    #[test]
    fn no_message_holds_an_empty_block() {
        for length in 330..420 {
            let text = format!(
                "{}\n```py\n{}\n```\nend {}",
                "a".repeat(length),
                "b = 1\n".repeat(8),
                "c".repeat(300)
            );
            for part in split(&text, 400) {
                assert!(!part.contains("```py\n\n```") && !part.contains("```py\n```"), "{length}: {part}");
                assert_eq!(part.matches("```").count() % 2, 0, "{length}: {part}");
            }
        }
    }

    #[test]
    fn longer_marks_hold_shorter_ones() {
        let text = format!("````md\n```js\n{}```\n````", "x\n".repeat(300));
        let parts = split(&text, 400);
        assert!(parts.len() > 1);
        assert!(parts.iter().all(|part| part.starts_with("````md\n") && part.ends_with("````")), "{parts:?}");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_too_long(text in "[a-zé😀\u{300} \n]{0,1500}", limit in 200_usize..600) {
            let parts = split(&text, limit);
            prop_assert!(parts.iter().all(|part| units(part) <= limit && !part.trim().is_empty()));
            prop_assert_eq!(bare(&parts.concat()), bare(&text));
        }

        #[test]
        fn marks_anywhere_make_no_message_too_long(text in "([a-z😀 \n]{0,60}(`{1,20})?[a-z]{0,30}\n?){0,60}", limit in 200_usize..600) {
            let parts = split(&text, limit);
            prop_assert!(parts.iter().all(|part| units(part) <= limit));
            let letters = |text: &str| text.chars().filter(|c| *c == '😀').count();
            prop_assert_eq!(parts.iter().map(|part| letters(part)).sum::<usize>(), letters(&text));
        }
    }
}

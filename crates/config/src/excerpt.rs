//! Lines and columns of a text, and the line that a message shows.

use crate::secret::is_secret_name;

/// The longest part of a line that is shown.
const WIDTH: usize = 100;

/// How many bytes lie between two places whose characters are counted beforehand.
const BLOCK: usize = 1024;

/// A text whose byte offsets can be turned into lines and columns, however long its lines are.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The number of characters before each block.
    counted: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        let counted = text.as_bytes().chunks(BLOCK).scan(0, |sum, block| {
            let before = *sum;
            *sum += characters(block);
            Some(before)
        });
        Self { text, starts, counted: counted.collect() }
    }

    /// Line and column, both from 1; the column counts characters.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line, self.characters_before(offset) - self.characters_before(start) + 1)
    }

    fn characters_before(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = (offset / BLOCK).min(self.counted.len().saturating_sub(1));
        let counted = self.counted.get(block).copied().unwrap_or(0);
        counted + characters(self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default())
    }

    /// A line, counted from 1, without its break.
    fn line(&self, number: usize) -> &'a str {
        self.text.lines().nth(number.saturating_sub(1)).unwrap_or_default()
    }

    /// The line of this offset with a caret below it, and a secret on it left out.
    pub(crate) fn excerpt(&self, offset: usize) -> String {
        let (number, column) = self.position(offset);
        let line = self.line(number);
        let gutter = " ".repeat(number.to_string().len());
        if self.may_hold_secret(number) {
            // Where the secret was, there is nothing left to point at.
            let key = self.key(number).map_or_else(|| "…".to_owned(), |key| format!("{key}= …"));
            return format!("{gutter} |\n{number} | {key}");
        }
        let skip = column.saturating_sub(WIDTH * 3 / 4);
        let window: String = line.chars().skip(skip).take(WIDTH).map(plain).collect();
        let caret = " ".repeat(column - 1 - skip);
        format!("{gutter} |\n{number} | {window}\n{gutter} | {caret}^")
    }

    /// The key that a line begins with, unless it stands within a string of several lines.
    fn key(&self, number: usize) -> Option<&'a str> {
        let start = self.starts.get(number.saturating_sub(1)).copied().unwrap_or(0);
        let above = self.text.get(..start).unwrap_or_default();
        let in_string = ["\"\"\"", "'''"].iter().any(|quotes| above.matches(quotes).count() % 2 == 1);
        if in_string { None } else { key_of(self.line(number)) }
    }

    /// Whether a line may show a secret: by its own key and its table, or, for a line without a key (within
    /// a long string or list), by anything that stands above it.
    fn may_hold_secret(&self, number: usize) -> bool {
        let above: Vec<&str> = self.text.lines().take(number).collect();
        let names = |line: &&str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_secret_name);
        if self.key(number).is_none() {
            return above.iter().any(names);
        }
        // `["a"]` may be a table or the item of a list: both are looked at, back to a line that is a table.
        let bracket = |line: &&str| line.trim_start().starts_with('[');
        let table = |line: &&str| bracket(line) && !line.contains(['"', '\'']);
        let header = above.iter().rposition(table).unwrap_or(0);
        above.last().is_some_and(names) || above[header..].iter().filter(|line| bracket(line)).any(names)
    }
}

/// The number of characters that begin in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

/// The part of a line before its `=`, if it begins with a key.
fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once('=')?;
    let is_key = |c: char| c.is_alphanumeric() || " \t_-.\"'".contains(c);
    // `"a=b"` is the item of a list.
    let is_cut = ['"', '\''].iter().any(|quote| key.matches(*quote).count() % 2 == 1);
    (!is_cut && !key.trim().is_empty() && key.chars().all(is_key)).then_some(key)
}

/// A character as wide as the caret below it expects, and harmless to a terminal.
fn plain(letter: char) -> char {
    match letter {
        '\t' => ' ',
        letter if letter.is_control() => char::REPLACEMENT_CHARACTER,
        letter => letter,
    }
}

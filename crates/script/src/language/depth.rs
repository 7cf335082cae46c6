//! How deep a source nests, told before the parser, which recurses, has seen it.

/// How deep a source may nest.
pub(super) const MOST: usize = 250;

/// How many `elif` a source may have: each stands inside the one before.
const MOST_ELIF: usize = 250;

/// The words that make an expression deeper.
const WORDS: [&str; 8] = ["not", "and", "or", "if", "else", "in", "lambda", "for"];

/// Tells the line and the column, from 1, where a source nests too deeply, if it does.
///
/// It counts more than the parser would: brackets, operators that follow each other, and the indentation. What is
/// refused may thus be a shallow source that is one endless expression, which is better written otherwise.
pub(super) fn too_deep(source: &str) -> Option<(usize, usize)> {
    let left = Scan { rest: source, levels: vec![0], depth: 0, elifs: 0 }.run()?;
    let before = &source[..source.len() - left];
    let last = before.rsplit('\n').next().unwrap_or_default();
    Some((before.matches('\n').count() + 1, last.chars().count()))
}

struct Scan<'a> {
    rest: &'a str,
    /// How many operators stand in each open bracket since its last comma; the first is outside of all.
    levels: Vec<usize>,
    /// The sum of all levels, and how many there are.
    depth: usize,
    elifs: usize,
}

impl Scan<'_> {
    /// How many bytes are left behind what is too deep.
    fn run(mut self) -> Option<usize> {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
                '"' | '\'' => self.string(first),
                '\n' => {
                    self.skip(1);
                    self.line_begins();
                }
                '(' | '[' | '{' => self.open(),
                ')' | ']' | '}' => self.close(),
                ',' | ';' => {
                    self.skip(1);
                    self.reset();
                }
                _ if first.is_alphanumeric() || first == '_' => self.word(),
                _ if first.is_whitespace() || first == ':' || first == '\\' => self.skip(first.len_utf8()),
                _ => {
                    self.skip(first.len_utf8());
                    self.deeper();
                }
            }
            if self.depth > MOST || self.elifs > MOST_ELIF {
                return Some(self.rest.len());
            }
        }
        None
    }

    /// Goes on behind some bytes.
    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes.min(self.rest.len())..];
    }

    /// Outside of brackets a new line is a new statement, as deep as it is indented.
    fn line_begins(&mut self) {
        if self.levels.len() == 1 {
            let indented = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            self.reset();
            self.levels[0] = indented;
            self.depth = indented;
        }
    }

    fn open(&mut self) {
        self.skip(1);
        self.levels.push(0);
        self.depth += 1;
    }

    /// What follows a bracket may be a call of what stands before it.
    fn close(&mut self) {
        self.skip(1);
        if self.levels.len() > 1 {
            self.reset();
            self.levels.pop();
            self.depth -= 1;
        }
        self.deeper();
    }

    fn deeper(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            *level += 1;
            self.depth += 1;
        }
    }

    fn reset(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.depth -= std::mem::take(level);
        }
    }

    fn word(&mut self) {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        if WORDS.contains(&word) {
            self.deeper();
        }
        self.elifs += usize::from(word == "elif");
        let quoted = self.rest[end..].starts_with(['"', '\'']);
        let is_raw = quoted && matches!(word, "r" | "rb" | "br" | "fr" | "rf");
        self.skip(end);
        if is_raw {
            let quote = self.rest.chars().next().unwrap_or('"');
            self.string(quote);
        }
    }

    /// A string, with what is escaped in it. In a raw string, too, a quote behind a backslash does not end it.
    fn string(&mut self, quote: char) {
        let long = if quote == '"' { "\"\"\"" } else { "'''" };
        let end = if self.rest.starts_with(long) { long } else { &long[..1] };
        let mut at = end.len();
        loop {
            let rest = &self.rest[at..];
            let Some(next) = rest.chars().next() else { break };
            if rest.starts_with(end) {
                at += end.len();
                break;
            }
            if next == '\n' && end.len() == 1 {
                break;
            }
            at += next.len_utf8();
            if next == '\\' {
                at += self.rest[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        self.skip(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_too_deeply_is_found_and_where() {
        #[track_caller]
        fn check(source: &str, expect: Option<usize>) {
            let line = too_deep(source).map(|(line, _)| line);
            assert_eq!(line, expect, "{}", &source[..source.len().min(60)]);
        }
        check("", None);
        check("x = 1\ny = [1, 2, {'a': (1, 2)}]\n", None);
        check(&format!("x = {}1{}", "(".repeat(200), ")".repeat(200)), None);
        for open in ["(", "[", "{"] {
            check(&format!("\n\nx = {}", open.repeat(100_000)), Some(3));
            assert_eq!(too_deep(&format!("\nxü = {}", open.repeat(100_000))), Some((2, 5 + 250)));
        }
        for chain in ["+1", "not ", "-", "~", ".a", "()", "[0]", " if 1 else 0", " or 1", "lambda: "] {
            check(&format!("x = 0\ny = x{}", chain.repeat(100_000)), Some(2));
        }
        check(&format!("if x:\n  pass\n{}", "elif x:\n  pass\n".repeat(1000)), Some(503));
        let steps: String = (0..300).map(|n| format!("{}if x:\n", " ".repeat(n))).collect();
        check(&steps, Some(251));
    }

    #[test]
    fn what_is_long_but_flat_is_not_deep() {
        let list = format!("x = [{}]", "(1, -2), ".repeat(5000));
        let statements = "x = a.b(c)[0] + 1\n".repeat(5000);
        let text = format!("x = \"{}\" # {}\n", "(".repeat(5000), "[".repeat(5000));
        let long = format!("x = '''\n{}\n''' + r'\\' + \"\\\"((((\"\n", "((((\n".repeat(500));
        for source in [list, statements, text, long] {
            assert_eq!(too_deep(&source), None, "{}", &source[..40]);
        }
    }
}

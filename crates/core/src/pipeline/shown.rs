//! Arguments as a person is shown them who is asked: what a caller writes cannot hide what else it writes.

use std::borrow::Cow;

use toolgate_wire::{Raw, Strings, Text};

use crate::visible::is_shown;

/// How much of the arguments a person is shown, in letters.
const MOST: usize = 4000;

/// How much is shown of each part.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// So much of a text, a key or a number.
    letters: usize,
    /// So many parts of an array or object; of the arguments themselves all that fit.
    parts: usize,
    /// So deep.
    depth: usize,
}

/// From everything to the little that is shown of what has very many parts.
const STEPS: [Limits; 12] = [
    Limits { letters: usize::MAX, parts: usize::MAX, depth: usize::MAX },
    Limits { letters: 3600, parts: 360, depth: usize::MAX },
    Limits { letters: 3000, parts: 300, depth: usize::MAX },
    Limits { letters: 2400, parts: 240, depth: usize::MAX },
    Limits { letters: 1800, parts: 180, depth: usize::MAX },
    Limits { letters: 1200, parts: 120, depth: 64 },
    Limits { letters: 800, parts: 80, depth: 32 },
    Limits { letters: 500, parts: 50, depth: 16 },
    Limits { letters: 300, parts: 30, depth: 8 },
    Limits { letters: 150, parts: 15, depth: 4 },
    Limits { letters: 80, parts: 8, depth: 2 },
    Limits { letters: 40, parts: 4, depth: 1 },
];

/// Arguments as a person reads them: indented, decoded, every number as it was sent. What is long is shortened where it
/// stands, so that nothing is left out because of what comes before it.
pub(super) fn shown(arguments: &Raw) -> String {
    let [all, shorter @ .., least] = STEPS;
    if let Some(text) = Writer::write(arguments, all, false) {
        return text;
    }
    let text = shorter.into_iter().find_map(|limits| Writer::write(arguments, limits, false));
    let text = text.or_else(|| Writer::write(arguments, least, true)).unwrap_or_default();
    format!("{text}\n… shortened: the arguments have {} bytes", arguments.as_bytes().len())
}

/// Puts down arguments in one pass.
struct Writer<'a> {
    tokens: Tokens<'a>,
    limits: Limits,
    /// Whether what does not fit is left out; else there is no such text.
    is_last: bool,
    out: String,
    letters: usize,
}

impl<'a> Writer<'a> {
    fn write(arguments: &'a Raw, limits: Limits, is_last: bool) -> Option<String> {
        let tokens = Tokens { text: arguments.as_str(), strings: arguments.strings() };
        let mut this = Self { tokens, limits, is_last, out: String::new(), letters: 0 };
        let first = this.tokens.next()?;
        this.value(&first, 0);
        (is_last || !this.is_full()).then_some(this.out)
    }

    fn is_full(&self) -> bool {
        self.letters > MOST
    }

    fn value(&mut self, token: &Token<'_>, depth: usize) {
        match token {
            Token::Key(text) | Token::Text(text) => self.text(text),
            Token::Plain(text) => self.plain(text),
            Token::Open(open) => self.parts(*open, depth),
            Token::Close(_) => {}
        }
    }

    fn parts(&mut self, open: char, depth: usize) {
        self.push(open);
        let (mut shown, mut left) = (0_usize, 0_usize);
        let mut close = None;
        while let Some(token) = self.tokens.next() {
            if let Token::Close(end) = token {
                close = Some(end);
                break;
            }
            if !self.takes(depth, shown) {
                left += 1;
                self.tokens.pass_over(&token);
                continue;
            }
            if shown > 0 {
                self.push(',');
            }
            shown += 1;
            self.part(token, depth + 1);
            if self.is_full() && !self.is_last {
                return;
            }
        }
        if left > 0 {
            self.line(depth + 1);
            self.say(&format!("… and {left} more"));
        }
        if shown + left > 0 {
            self.line(depth);
        }
        close.into_iter().for_each(|close| self.push(close));
    }

    /// Whether another part is shown beside so many.
    fn takes(&self, depth: usize, shown: usize) -> bool {
        if depth == 0 {
            return !self.is_full();
        }
        depth < self.limits.depth && shown < self.limits.parts
    }

    fn part(&mut self, token: Token<'_>, depth: usize) {
        self.line(depth);
        let Token::Key(key) = token else { return self.value(&token, depth) };
        self.text(&key);
        self.say(": ");
        if let Some(value) = self.tokens.next() {
            self.value(&value, depth);
        }
    }

    /// A text in quotes, in which neither a quote nor the end of a line can be mistaken for one of ours.
    fn text(&mut self, raw: &Raw) {
        let text: Cow<'_, str> = raw.as_string_lossy().unwrap_or_default();
        let mut letters = text.chars();
        self.push('"');
        for letter in letters.by_ref().take(self.limits.letters.min(MOST + 1)) {
            match letter {
                '"' | '\\' => self.say(&format!("\\{letter}")),
                '\n' => self.say("\\n"),
                '\r' => self.say("\\r"),
                '\t' => self.say("\\t"),
                letter if is_shown(letter) => self.push(letter),
                letter => self.say(&letter.escape_unicode().to_string()),
            }
        }
        self.push('"');
        self.more(letters.count());
    }

    /// A number or a word, as it was sent.
    fn plain(&mut self, text: &str) {
        let shown = text.get(..self.limits.letters.min(MOST + 1)).unwrap_or(text);
        self.say(shown);
        self.more(text.len() - shown.len());
    }

    fn more(&mut self, left: usize) {
        if left > 0 {
            self.say(&format!(" … and {left} more letters"));
        }
    }

    fn line(&mut self, depth: usize) {
        self.push('\n');
        (0..depth).for_each(|_| self.say("  "));
    }

    fn say(&mut self, text: &str) {
        text.chars().for_each(|letter| self.push(letter));
    }

    fn push(&mut self, letter: char) {
        self.letters += 1;
        self.out.push(letter);
    }
}

/// A piece of JSON text; commas and colons say nothing that these do not.
enum Token<'a> {
    Open(char),
    Close(char),
    Key(Raw),
    Text(Raw),
    Plain(&'a str),
}

/// The pieces of a JSON text, in order.
struct Tokens<'a> {
    text: &'a str,
    strings: Strings<'a>,
}

impl Tokens<'_> {
    /// Passes over the rest of a part that begins with this.
    fn pass_over(&mut self, first: &Token<'_>) {
        let value = if let Token::Key(_) = first { self.next() } else { None };
        let mut depth = usize::from(matches!(value.as_ref().unwrap_or(first), Token::Open(_)));
        while depth > 0 {
            match self.next() {
                Some(Token::Open(_)) => depth += 1,
                Some(Token::Close(_)) => depth -= 1,
                Some(Token::Key(_) | Token::Text(_) | Token::Plain(_)) => {}
                None => return,
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let text = self.text.trim_start_matches([' ', '\t', '\r', '\n', ',', ':']);
        let first = text.chars().next()?;
        let (token, length) = match first {
            '{' | '[' => (Token::Open(first), 1),
            '}' | ']' => (Token::Close(first), 1),
            '"' => match self.strings.next()? {
                Text::Key(key) => {
                    let length = key.as_bytes().len();
                    (Token::Key(key), length)
                }
                Text::Value(value) => {
                    let length = value.as_bytes().len();
                    (Token::Text(value), length)
                }
            },
            _ => {
                let ends = [' ', '\t', '\r', '\n', ',', '}', ']'];
                let length = text.find(ends).unwrap_or(text.len());
                (Token::Plain(&text[..length]), length)
            }
        };
        self.text = &text[length..];
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).collect()
    }

    #[test]
    fn short_arguments_are_shown_whole_and_numbers_as_they_were_sent() {
        #[track_caller]
        fn check(json: &'static str, expect: &str) {
            assert_eq!(shown(&Raw::literal(json)), expect);
        }
        check("{}", "{}");
        check("null", "null");
        check(r#""x""#, r#""x""#);
        check("[ [ ] , { } ]", "[\n  [],\n  {}\n]");
        check(
            r#"{ "n" : 123456789012345678901234567890, "m":[1.00,true] }"#,
            "{\n  \"n\": 123456789012345678901234567890,\n  \"m\": [\n    1.00,\n    true\n  ]\n}",
        );
    }

    #[test]
    fn text_is_decoded_and_can_neither_hide_a_letter_nor_pass_for_a_line_of_ours() {
        #[track_caller]
        fn check(json: &'static str, expect: &str) {
            assert_eq!(shown(&Raw::literal(json)), format!("{{\n  {expect}\n}}"));
        }
        check(r#"{"\u0063md":"\u0072\u006d -\u0072f \/"}"#, r#""cmd": "rm -rf /""#);
        check(
            r#"{"a":"x\u202ey\u200b\udb40\udc41\u001b\u009b"}"#,
            r#""a": "x\u{202e}y\u{200b}\u{e0041}\u{1b}\u{9b}""#,
        );
        check("{\"a\u{202e}\":\"\u{2028}\u{3164}\"}", r#""a\u{202e}": "\u{2028}\u{3164}""#);
        check(r#"{"a":"\",\n  \"b\": \\u{202e}\r\t"}"#, r#""a": "\",\n  \"b\": \\u{202e}\r\t""#);
        check(r#"{"a":"größer \ud83d\ude00"}"#, r#""a": "größer 😀""#);
    }

    /// Whatever comes before `path`, it is there.
    #[test]
    fn nothing_is_left_out_because_of_what_comes_before_it() {
        let deep = || (0..100).fold(json!("x".repeat(50)), |inner, _| json!({"in": inner}));
        let before = [
            json!("x".repeat(MOST)),
            json!("\u{202e}".repeat(MOST)),
            json!("x".repeat(1_000_000)),
            json!(vec![7; 10_000]),
            json!(vec!["x".repeat(100); 10_000]),
            json!((0..5000).map(|n| (format!("key{n}"), json!(n))).collect::<serde_json::Map<_, _>>()),
            deep(),
            json!(vec![deep(); 500]),
            json!({"x".repeat(10_000): {"x".repeat(10_000): [[["x".repeat(10_000)]]]}}),
        ];
        for content in before {
            let text = shown(&Raw::of(&json!({"content": content, "path": "/etc/passwd"})));
            assert!(lines(&text).contains(&r#""path": "/etc/passwd""#), "{text}");
            assert!(text.chars().count() < MOST + 100, "{}", text.chars().count());
            assert!(text.contains("… and ") && text.contains("\n… shortened: the arguments have "), "{text}");
        }
    }

    #[test]
    fn many_long_values_all_show_their_keys_and_how_much_of_them_is_missing() {
        let many: serde_json::Map<String, Value> =
            (0..30).map(|n| (format!("key{n}"), json!("x".repeat(1000)))).collect();
        let text = shown(&Raw::of(&many));
        for n in 0..30 {
            let line = format!(r#""key{n}": "{}" … and 920 more letters"#, "x".repeat(80));
            assert!(lines(&text).iter().any(|shown| shown.trim_end_matches(',') == line), "{text}");
        }
    }

    #[test]
    fn of_too_many_keys_the_rest_is_counted() {
        let many: serde_json::Map<String, Value> =
            (0..5000).map(|n| (format!("key{n}"), json!("x".repeat(100)))).collect();
        let text = shown(&Raw::of(&many));
        let shown = lines(&text).iter().filter(|line| line.starts_with("\"key")).count();
        assert!(shown > 20 && lines(&text).contains(&&*format!("… and {} more", 5000 - shown)), "{text}");
        assert!(text.chars().count() < MOST + 1000, "{}", text.chars().count());
    }

    #[test]
    fn a_number_that_is_endless_is_shortened_too() {
        let text = format!(r#"{{"n":{},"path":"x"}}"#, "7".repeat(10_000));
        let text = shown(&Raw::parse(text.into()).unwrap());
        assert!(text.contains("7 … and ") && text.contains(r#""path": "x""#), "{text}");
    }
}

//! Arguments as a person is shown them who is asked: what a caller writes cannot hide what else it writes.

use std::borrow::Cow;

use toolgate_host::at_length;
use toolgate_wire::{Raw, Strings, Text};

use crate::visible::in_place;

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

/// From so many bytes on putting them down takes a while.
const LONG: usize = 256 * 1024;

/// Arguments as a person reads them: indented, decoded, every number as it was sent. What is long is shortened where it
/// stands, so that nothing is left out because of what comes before it.
pub(super) fn shown(arguments: &Raw) -> String {
    match arguments.as_bytes().len() < LONG {
        true => written(arguments),
        false => at_length(|| written(arguments)),
    }
}

/// Puts arguments down in one pass, within all limits at once: which of them leave room for everything shows only at
/// the end.
fn written(arguments: &Raw) -> String {
    let mut drafts = STEPS.map(Draft::new);
    drafts.iter_mut().rev().take(1).for_each(|least| least.is_last = true);
    put_down(arguments, &mut drafts);
    let [all, shorter @ ..] = drafts;
    if !all.is_abandoned() {
        return all.out;
    }
    let text = shorter.into_iter().find(|draft| !draft.is_abandoned()).map(|draft| draft.out);
    let (text, bytes) = (text.unwrap_or_default(), arguments.as_bytes().len());
    format!("{text}\n… shortened: the arguments have {bytes} bytes")
}

fn put_down(arguments: &Raw, drafts: &mut [Draft]) {
    let mut tokens = Tokens { text: arguments.as_str(), strings: arguments.strings() };
    if let Some(first) = tokens.next() {
        value(&mut tokens, &first, 0, drafts);
    }
}

fn value(tokens: &mut Tokens<'_>, token: &Token<'_>, depth: usize, drafts: &mut [Draft]) {
    match token {
        Token::Key(raw) | Token::Text(raw) => text(raw, drafts),
        Token::Plain(text) => drafts.iter_mut().for_each(|draft| draft.plain(text)),
        Token::Open(open) => parts(tokens, *open, depth, drafts),
        Token::Close(_) => {}
    }
}

fn parts(tokens: &mut Tokens<'_>, open: char, depth: usize, drafts: &mut [Draft]) {
    drafts.iter_mut().for_each(|draft| draft.push(open));
    let (mut all, mut shown) = (0_usize, [0_usize; STEPS.len()]);
    let mut close = None;
    while let Some(token) = tokens.next() {
        if let Token::Close(end) = token {
            close = Some(end);
            break;
        }
        // A draft takes no less than those behind it, unless it is abandoned; then nothing is written to it.
        let takes = |draft: &Draft| draft.takes(depth, all);
        let takers = drafts.iter().rposition(takes).map_or(0, |last| last + 1);
        for (draft, shown) in drafts[..takers].iter_mut().zip(&mut shown) {
            (0..all.min(1)).for_each(|_| draft.push(','));
            *shown += 1;
        }
        all += 1;
        match takers {
            0 => tokens.pass_over(&token),
            _ => part(tokens, token, depth + 1, &mut drafts[..takers]),
        }
    }
    for (draft, shown) in drafts.iter_mut().zip(shown) {
        draft.close(close, depth, (all, all - shown));
    }
}

fn part(tokens: &mut Tokens<'_>, token: Token<'_>, depth: usize, drafts: &mut [Draft]) {
    drafts.iter_mut().for_each(|draft| draft.line(depth));
    let Token::Key(key) = token else { return value(tokens, &token, depth, drafts) };
    text(&key, drafts);
    drafts.iter_mut().for_each(|draft| draft.say(": "));
    if let Some(next) = tokens.next() {
        value(tokens, &next, depth, drafts);
    }
}

fn text(raw: &Raw, drafts: &mut [Draft]) {
    let text: Cow<'_, str> = raw.as_string_lossy().unwrap_or_default();
    let letters = text.chars().count();
    drafts.iter_mut().for_each(|draft| draft.text(&text, letters));
}

/// The arguments as they are put down within limits.
struct Draft {
    limits: Limits,
    /// Whether what does not fit is left out; else there is no such text.
    is_last: bool,
    out: String,
    letters: usize,
}

impl Draft {
    fn new(limits: Limits) -> Self {
        Self { limits, is_last: false, out: String::new(), letters: 0 }
    }

    fn is_full(&self) -> bool {
        self.letters > MOST
    }

    /// Whether it does not fit, and nothing more is written to it.
    fn is_abandoned(&self) -> bool {
        !self.is_last && self.is_full()
    }

    /// Whether another part is shown beside so many.
    fn takes(&self, depth: usize, shown: usize) -> bool {
        if depth == 0 || self.is_abandoned() {
            return !self.is_full();
        }
        depth < self.limits.depth && shown < self.limits.parts
    }

    /// Ends an array or object of so many parts, of which so many are left out.
    fn close(&mut self, close: Option<char>, depth: usize, (all, left): (usize, usize)) {
        if left > 0 {
            self.line(depth + 1);
            self.say(&format!("… and {left} more"));
        }
        if all > 0 {
            self.line(depth);
        }
        close.into_iter().for_each(|close| self.push(close));
    }

    /// A text in quotes, in which neither a quote nor the end of a line can be mistaken for one of ours.
    fn text(&mut self, text: &str, letters: usize) {
        let most = self.limits.letters.min(MOST + 1);
        self.push('"');
        for (letter, is_shown) in in_place(text).take(most) {
            match letter {
                '"' | '\\' => self.say(&format!("\\{letter}")),
                '\n' => self.say("\\n"),
                '\r' => self.say("\\r"),
                '\t' => self.say("\\t"),
                letter if is_shown => self.push(letter),
                letter => self.say(&letter.escape_unicode().to_string()),
            }
        }
        self.push('"');
        self.more(letters.saturating_sub(most));
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
        if !self.is_abandoned() {
            self.letters += 1;
            self.out.push(letter);
        }
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
    fn what_is_put_down_within_all_limits_at_once_is_what_each_has_alone() {
        let many: serde_json::Map<String, Value> =
            (0..300).map(|n| (format!("k{n}"), json!(["x".repeat(n), [[n, {}], n], "\u{202e}"]))).collect();
        let empty = json!({"a": [], "b": {}, "c": "", "d": [[], {}]});
        for arguments in [json!(many), json!([many, many]), json!(vec![many; 9]), empty, json!("x")] {
            let arguments = Raw::of(&arguments);
            let mut drafts = STEPS.map(Draft::new);
            put_down(&arguments, &mut drafts);
            for (limits, together) in STEPS.into_iter().zip(drafts) {
                let mut alone = [Draft::new(limits)];
                put_down(&arguments, &mut alone);
                let [alone] = alone;
                assert_eq!(together.is_abandoned(), alone.is_abandoned(), "{limits:?}");
                assert!(alone.is_abandoned() || together.out == alone.out, "{limits:?}");
            }
        }
    }

    #[test]
    fn a_number_that_is_endless_is_shortened_too() {
        let text = format!(r#"{{"n":{},"path":"x"}}"#, "7".repeat(10_000));
        let text = shown(&Raw::parse(text.into()).unwrap());
        assert!(text.contains("7 … and ") && text.contains(r#""path": "x""#), "{text}");
    }
}

//! What is measured with, the same in every run: replies that look like real ones, and secrets that look like real ones.

use anyhow::Result;
use serde_json::json;
use toolgate_host::Secret;
use toolgate_wire::Raw;

/// How many secrets are looked for.
const SECRETS: usize = 50;

const WORDS: &[&str] = &[
    "the", "request", "of", "server", "returned", "value", "for", "let", "config", "error", "user", "a",
    "list", "in", "path", "token", "and", "state", "is", "updated", "with", "new", "field", "at", "line",
    "build", "failed", "to", "connect", "after", "retry", "result", "from", "cache", "key", "index",
];

/// A `tools/call` result of so many bytes: lines of prose, of a log and of code, with the quotes and line breaks of
/// such, and no secret among them.
pub(crate) fn result(bytes: usize) -> Result<Raw> {
    let mut numbers = Numbers::new(7);
    let mut text = String::new();
    let around = written("")?.len();
    let mut length = around;
    while length < bytes {
        let line = line(&mut numbers);
        length += serde_json::to_string(&line)?.len() - 2;
        text.push_str(&line);
    }
    while length > bytes
        && let Some(last) = text.pop()
    {
        length -= serde_json::to_string(&last)?.len() - 2;
    }
    Ok(Raw::parse(written(&text)?.into())?)
}

/// The first block is what the benchmark looks for in every answer.
fn written(text: &str) -> Result<Vec<u8>> {
    let blocks = [json!({"type": "text", "text": "hello world"}), json!({"type": "text", "text": text})];
    Ok(serde_json::to_vec(&json!({"content": blocks, "isError": false}))?)
}

fn line(numbers: &mut Numbers) -> String {
    let mut words = |count: usize| -> String {
        let words: Vec<&str> = (0..count).map(|_| WORDS[numbers.below(WORDS.len())]).collect();
        words.join(" ")
    };
    let (first, second) = (words(3), words(9));
    match numbers.below(3) {
        0 => format!("{first} {second}.\n"),
        1 => format!(
            "2026-07-28T10:{:02}:{:02}Z INFO {first}: {second}\n",
            numbers.below(60),
            numbers.below(60)
        ),
        _ => format!("    {{\"{first}\": {}, \"note\": \"{second}\"}},\n", numbers.below(100_000)),
    }
}

/// Secrets of the shapes that people keep: tokens with a prefix, hexadecimal and base64 keys, passwords with signs,
/// addresses with a password, and JWTs.
pub(crate) fn secrets() -> Vec<(String, Secret)> {
    const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let base64 = format!("{ALPHANUMERIC}+/");
    let signs = format!("{ALPHANUMERIC}!#$%&*?@^\"\\");
    let mut numbers = Numbers::new(11);
    let mut some = |alphabet: &str, count: usize| -> String {
        let alphabet = alphabet.as_bytes();
        (0..count).map(|_| char::from(alphabet[numbers.below(alphabet.len())])).collect()
    };
    let mut secret = |kind: usize| match kind {
        0 => format!("ghp_{}", some(ALPHANUMERIC, 36)),
        1 => format!("sk-proj-{}", some(ALPHANUMERIC, 120)),
        2 => some(&base64, 40),
        3 => some("0123456789abcdef", 64),
        4 => some(&signs, 20),
        5 => format!("postgres://app:{}@db.example/app", some(ALPHANUMERIC, 24)),
        6 => {
            format!("eyJ{}.eyJ{}.{}", some(ALPHANUMERIC, 33), some(ALPHANUMERIC, 90), some(ALPHANUMERIC, 43))
        }
        7 => format!("xoxb-{}-{}", some("0123456789", 12), some(ALPHANUMERIC, 24)),
        8 => format!("AKIA{}", some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        _ => format!("glpat-{}", some(ALPHANUMERIC, 20)),
    };
    (0..SECRETS).map(|n| (format!("SECRET_{n}"), Secret::new(secret(n % 10)))).collect()
}

/// Numbers that look random, and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }
}

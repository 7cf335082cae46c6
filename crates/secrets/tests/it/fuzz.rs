//! Random bytes, made of what causes trouble: nothing breaks, and what was JSON stays JSON.
//!
//! `TOOLGATE_FUZZ_SEED` repeats a run.

#![expect(clippy::disallowed_methods, reason = "a run can be repeated from outside")]

use std::hash::{BuildHasher as _, RandomState};

use toolgate_core::Filter as _;
use toolgate_secrets::Redactor;
use toolgate_wire::Raw;

use crate::samples::redactor;

const SECRETS: [(&str, &str); 7] = [
    ("A", "\\u0041\\\\n%41\""),
    ("B", "aaaaaaaab"),
    ("C", "[[{\"a\":1,"),
    ("D", "00000000"),
    ("E", "\\\\\\\\\\\\\\\\"),
    ("F", "%25%25%2"),
    ("G", "é\"😀\\u"),
];

/// What texts are made of, besides secrets and bytes that are no text.
const WORDS: &str = r#"\ \\ " \" u \u 0041 \u0041 \ud83d \ude00 % %2 %25 41 a aaaaaaaa b 0 00000000 [ [[ { } ] : , \n n é 😀 true 1e5 data "data":" \x \u{ 41}"#;

/// Numbers that a seed repeats.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Others in every run, unless one is to be repeated. The seed is seen where a test fails.
    pub(crate) fn fresh() -> Self {
        let any = || RandomState::new().hash_one(()) % 1_000_000_000;
        let seed = std::env::var("TOOLGATE_FUZZ_SEED").map_or_else(|_| any(), |text| text.parse().unwrap());
        println!("TOOLGATE_FUZZ_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.next(2) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.next(among.len())]
    }
}

fn check_text(redactor: &Redactor, bytes: &[u8], size: usize) {
    let mut stream = redactor.stream();
    let mut out: Vec<u8> = bytes.chunks(size).flat_map(|part| stream.push(part)).collect();
    out.extend(stream.finish());
    if let Ok(text) = str::from_utf8(bytes) {
        assert_eq!(redactor.text(text).is_none(), out == bytes, "{text} in parts of {size}");
    }
}

/// Tries a text as a document; says whether it is one.
fn check_document(redactor: &Redactor, bytes: Vec<u8>) -> bool {
    let Ok(raw) = Raw::parse(bytes.into()) else { return false };
    let redacted = redactor.json(raw.clone());
    assert!(Raw::parse(redacted.bytes()).is_ok(), "{} from {}", redacted.as_str(), raw.as_str());
    true
}

#[test]
fn random_bytes_break_nothing() {
    let redactor = redactor(&SECRETS.map(|(name, value)| (name, value.to_owned())));
    let mut words: Vec<&[u8]> = WORDS.split(' ').map(str::as_bytes).collect();
    words.extend(SECRETS.map(|(_, value)| value.as_bytes()));
    words.extend([&b" "[..], b"\xff", b"\x00", b"\xc3", b"\xed\xa0\x80"]);
    // A line of base64 that ends within a secret, breaks, and the rest of it.
    let line = [&[b'A'; 56][..], b"YWFhYWFh"].concat();
    words.extend([&line[..], b"YWFi", b"\n", b"\r\n", b"%0A"]);
    let mut numbers = Numbers::fresh();
    let mut documents = 0;
    for _ in 0..20_000 {
        let length = 1 + numbers.next(14);
        let bytes = (0..length).map(|_| *numbers.pick(&words)).collect::<Vec<_>>().concat();
        check_text(&redactor, &bytes, 1 + numbers.next(9));
        let inside: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'"').collect();
        documents += u32::from(check_document(&redactor, bytes));
        documents += u32::from(check_document(&redactor, [b"{\"data\":\"", &inside[..], b"\"}"].concat()));
    }
    assert!(documents > 2_000, "{documents}");
}

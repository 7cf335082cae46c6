//! Secrets of many kinds, and a redactor that knows them.

use std::sync::LazyLock;

use toolgate_host::Secret;
use toolgate_secrets::Redactor;

/// Names and values.
pub(crate) static SECRETS: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let long: String =
        (0u32..).map(|n| char::from(b'!' + (n * n % 89 + n / 7 % 5) as u8)).take(4096).collect();
    let secret = |name, value: &str| (name, value.to_owned());
    vec![
        secret("TOKEN", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        secret("QUOTED", r#"pa"ss\wo"rd'\n\u0041!"#),
        secret("UNICODE", "grüße-日本語-😀-пароль"),
        secret("DIGITS", "9876543210123"),
        secret("URL", "https://user:p%40ss@feeds.example/a/b?key=v&x=y z"),
        secret("EIGHT", "q7#K_z9?"),
        secret("LINES", "-----BEGIN KEY-----\nMIIBVAIBADANBg\tkqhkiG9w0\r\n-----END KEY-----\n"),
        secret("SHORTER", "prefix-of-another"),
        secret("LONGER", "prefix-of-another-one"),
        secret("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
        secret("KEYWORDS", "true,false,null"),
        ("LONG", long),
    ]
});

/// One for all tests: it takes a while to make.
pub(crate) static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| redactor(&SECRETS));

pub(crate) fn redactor(secrets: &[(&str, String)]) -> Redactor {
    let redactor = Redactor::new();
    let secrets = secrets.iter().map(|(name, value)| (*name, Secret::new(value.clone())));
    assert!(redactor.set(secrets).unwrap().is_empty());
    redactor
}

pub(crate) fn one(name: &str, value: &str) -> Redactor {
    redactor(&[(name, value.to_owned())])
}

/// What a stream makes of a text that comes in parts of these sizes, over and over.
pub(crate) fn in_parts(redactor: &Redactor, text: &str, sizes: &[usize]) -> Vec<u8> {
    let (mut stream, mut rest, mut out) = (redactor.stream(), text.as_bytes(), Vec::new());
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (part, more) = rest.split_at((*size).min(rest.len()));
        out.extend(stream.push(part));
        rest = more;
    }
    out.extend(stream.finish());
    out
}

//! Texts that look like secrets, and how to refer to them instead.

use std::fmt;

/// Shorter ones are no secrets, and cannot be kept as such.
const SHORTEST: usize = 8;

/// Names that hold one of these say that the value is a secret.
const TELLING: [&str; 12] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "authorization",
    "cookie",
    "apikey",
    "api_key",
    "access_key",
    "private_key",
];

/// What well-known kinds of tokens begin with.
const PREFIXES: [&str; 20] = [
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "hf_",
    "ntn_",
    "lin_api_",
    "npm_",
    "pypi-",
    "eyJ",
];

/// What may stand before a token in a header.
const SCHEMES: [&str; 5] = ["Bearer ", "bearer ", "Basic ", "token ", "Token "];

/// A text that looks like a secret. It is not shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Literal {
    /// What it can be kept as.
    pub name: String,
    /// Where it stands in the table: `env.GITHUB_TOKEN`.
    pub at: String,
    value: String,
}

impl Literal {
    pub(super) fn new(name: String, at: String, value: &str) -> Self {
        Self { name, at, value: value.to_owned() }
    }

    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.value
    }

    /// What stands in its place.
    #[must_use]
    pub fn reference(&self) -> String {
        reference(&self.name)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Literal({} at {})", self.name, self.at)
    }
}

/// How a table refers to a secret.
pub(super) fn reference(name: &str) -> String {
    format!("{{secret:{name}}}")
}

/// The part of a text that is secret, if it looks so under this name: what stands before it, and itself.
pub(super) fn part<'t>(name: &str, text: &'t str) -> Option<(&'t str, &'t str)> {
    let scheme = SCHEMES.into_iter().find(|scheme| text.starts_with(scheme)).map_or(0, str::len);
    let (before, value) = text.split_at(scheme);
    is_secret(name, value).then_some((before, value))
}

/// Whether a text looks like a secret under this name, or holds one.
#[must_use]
pub fn looks_secret(name: &str, text: &str) -> bool {
    part(name, text).is_some()
}

fn is_secret(name: &str, value: &str) -> bool {
    if value.len() < SHORTEST || value.contains("{env:") || value.contains("{secret:") || value.contains("${")
    {
        return false;
    }
    if let Some((_, rest)) = value.split_once("://") {
        return has_password(rest);
    }
    let is_path = value.starts_with(['/', '.', '~', '@']) || value.get(1..3) == Some(":\\");
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_path || is_number || value.contains(' ') && !is_telling(name) {
        return false;
    }
    let known = PREFIXES.into_iter().any(|prefix| value.starts_with(prefix)) && value.len() >= 2 * SHORTEST;
    is_telling(name) || known || is_random(value)
}

/// Whether a name says that it is one of a secret.
pub(super) fn is_telling(name: &str) -> bool {
    let name = name.trim_start_matches('-').to_ascii_lowercase().replace(['-', '.'], "_");
    let word = |word: &str| name == word || name.ends_with(&format!("_{word}"));
    TELLING.iter().any(|part| name.contains(part)) || ["key", "pat", "pass", "auth"].into_iter().any(word)
}

/// `user:password@host`
fn has_password(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Whether a word has the look of chance: long, of several kinds of letters, and hardly any of them twice in a row.
fn is_random(value: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    if value.len() < 24 || !value.bytes().all(fits) {
        return false;
    }
    let any = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit()) && value.len() >= 32;
    let mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit);
    (mixed && bits(value) > 3.8) || (is_hex && any(u8::is_ascii_digit) && bits(value) > 3.0)
}

/// The entropy of a letter.
fn bits(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expect: Option<(&str, &str)>) {
        assert_eq!(part(name, text), expect, "{name}={text}");
    }

    #[test]
    fn names_and_looks_tell_secrets() {
        for (name, text) in [
            ("GITHUB_TOKEN", "abcdefgh"),
            ("OPENAI_API_KEY", "sk-proj-1"),
            ("BRAVE_KEY", "12345678a"),
            ("X", "ghp_0123456789abcdef"),
            ("X", "xY3kPq9ZtL0vWm2RbN7cHdJs"),
            ("X", "5f4dcc3b5aa765d61d8327deb882cf99"),
            ("DATABASE", "postgres://me:hunter2@db/app"),
            ("--api-key", "abcdefgh"),
            ("Cookie", "a=b; session=c"),
        ] {
            check(name, text, Some(("", text)));
        }
        check("Authorization", "Bearer abcdefgh", Some(("Bearer ", "abcdefgh")));
    }

    #[test]
    fn what_is_known_to_all_is_no_secret() {
        for (name, text) in [
            ("GITHUB_TOKEN", "short"),
            ("GITHUB_TOKEN", "{env:GITHUB_TOKEN}"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
            ("MAX_TOKENS", "100000000"),
            ("MONKEY", "business as usual"),
            ("API_URL", "https://api.example.com/v1"),
            ("X", "@modelcontextprotocol/server-filesystem"),
            ("X", "chrome-devtools-mcp@latest-and-greatest"),
            ("X", "0b6f2a52-7d0e-4a3a-9c0e-7a5d1a4a2f11"),
            ("NODE_ENV", "production"),
        ] {
            check(name, text, None);
        }
    }

    #[test]
    fn a_secret_is_not_shown_by_accident() {
        let literal = Literal::new("A".into(), "env.A".into(), "hunter22");
        assert_eq!(format!("{literal:?}"), "Literal(A at env.A)");
        assert_eq!((literal.expose(), &*literal.reference()), ("hunter22", "{secret:A}"));
    }
}

//! Names that say that their values are secrets, and how a token stands in a header.

/// The ends of words in names whose values may be secrets.
const ENDS: [&str; 10] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "authorization",
    "cookie",
    "bearer",
];

/// Words that only tell as a whole: an author is no secret.
const WORDS: [&str; 4] = ["auth", "pass", "pat", "pwd"];

/// What may stand before a token in a header.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Whether a name says that its value may be a secret.
pub fn is_telling(name: &str) -> bool {
    words(name).iter().any(|word| {
        let one = word.strip_suffix('s').unwrap_or(word);
        ENDS.iter().any(|end| one.ends_with(end)) || WORDS.contains(&word.as_str())
    })
}

/// The token behind a scheme, as in `Bearer …`; nothing where there is no scheme.
pub fn token_of(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    let is_scheme = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    Some(token.trim()).filter(|token| is_scheme && !token.is_empty())
}

/// The words of a name, in small letters: `apiKey`, `api-key` and `API_KEY` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_by_the_ends_of_their_words() {
        for name in [
            "apiKey",
            "API_KEY",
            "apikey",
            "x-api-key",
            "accessToken",
            "tokens",
            "client_secret",
            "Cookie",
            "Authorization",
            "GITHUB_PAT",
            "BASIC_AUTH",
            "DB_PASS",
            "--password",
        ] {
            assert!(is_telling(name), "{name}");
        }
        for name in [
            "keybinds",
            "keycloak",
            "tokenizer",
            "model",
            "",
            "passwordless",
            "url",
            "GIT_AUTHOR_NAME",
            "PATH",
            "compass",
        ] {
            assert!(!is_telling(name), "{name}");
        }
    }

    #[test]
    fn a_token_stands_behind_its_scheme() {
        #[track_caller]
        fn check(value: &str, expect: Option<&str>) {
            assert_eq!(token_of(value), expect, "{value}");
        }
        check("Bearer abc", Some("abc"));
        check("token  abc ", Some("abc"));
        check("BASIC YTpi", Some("YTpi"));
        check("abc", None);
        check("Bearer ", None);
        check("some words", None);
    }
}

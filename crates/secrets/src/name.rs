//! What a secret may be called.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

/// The longest name, in bytes.
const MAX: usize = 64;

/// The name of a secret: `^[A-Z][A-Z0-9_]*$`, at most 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

/// A name that no secret can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be the name of a secret")]
pub struct BadName(String);

impl BadName {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "use capital letters, digits and `_`, beginning with a letter, at most 64: `GITHUB_TOKEN`"
    }
}

impl SecretName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let mut bytes = text.bytes();
        let first = bytes.next().is_some_and(|byte| byte.is_ascii_uppercase());
        let rest = bytes.all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if first && rest && text.len() <= MAX {
            return Ok(Self(text.to_owned()));
        }
        // Someone may have mistaken the value for the name.
        let shown: String = text.chars().take(12).collect();
        Err(BadName(if shown.len() < text.len() { shown + "…" } else { shown }))
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for SecretName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_capitals_digits_and_underscores() {
        #[track_caller]
        fn check(name: &str, good: bool) {
            assert_eq!(name.parse::<SecretName>().is_ok(), good, "{name}");
        }
        check("A", true);
        check("GITHUB_TOKEN_2", true);
        check(&"A".repeat(64), true);
        check(&"A".repeat(65), false);
        check("", false);
        check("_A", false);
        check("2A", false);
        check("a", false);
        check("Ab", false);
        check("A-B", false);
        check("A B", false);
        check("A\n", false);
        check("É", false);
    }

    #[test]
    fn a_value_given_as_the_name_is_not_repeated_in_full() {
        let error = "ghp_16C7e42F292c6912E7710c838347Ae178B4a".parse::<SecretName>().unwrap_err();
        assert_eq!(error.to_string(), "`ghp_16C7e42F…` cannot be the name of a secret");
    }
}

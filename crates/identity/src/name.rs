//! Names that a person gives: of principals and of roles.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use toolgate_core::{Error, Kind};

/// The longest name.
const LONGEST: usize = 64;

/// Names that stand for somebody already: who sits at this machine, and whoever has the one token of the configuration.
const RESERVED: [&str; 2] = ["local", "token"];

/// The name of a principal for whom tokens are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalName(Arc<str>);

/// The name of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleName(Arc<str>);

impl PrincipalName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RoleName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PrincipalName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if RESERVED.iter().any(|name| name.eq_ignore_ascii_case(text)) {
            let message = format!("the name `{text}` is reserved");
            return Err(Error::new(Kind::InvalidInput, message).hint("choose another name for the principal"));
        }
        named(text, "a principal").map(Self)
    }
}

impl FromStr for RoleName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        named(text, "a role").map(Self)
    }
}

impl fmt::Display for PrincipalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn named(text: &str, what: &str) -> Result<Arc<str>, Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.@-".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins && text.len() <= LONGEST && text.bytes().all(plain) {
        return Ok(text.into());
    }
    let hint =
        "use at most 64 letters, digits, `_`, `.`, `@` and `-`, of which the first is a letter or a digit";
    Err(Error::new(Kind::InvalidInput, format!("`{text}` is no name for {what}")).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        #[track_caller]
        fn check(text: &str, expect: bool) {
            assert_eq!(text.parse::<PrincipalName>().is_ok(), expect, "{text:?}");
        }
        check("alice", true);
        check("alice@example.com", true);
        check("ci-runner_2.x", true);
        check("7", true);
        check(&"a".repeat(64), true);
        check(&"a".repeat(65), false);
        check("", false);
        check("-alice", false);
        check("@alice", false);
        check("alice ", false);
        check("alice\n", false);
        check("älice", false);
        check("login.example.com/alice", false);
        check("local", false);
        check("Local", false);
        check("token", false);
        assert!("local".parse::<RoleName>().is_ok());
        assert!("*".parse::<RoleName>().is_err());
    }
}

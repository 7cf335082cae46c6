//! Which repository is meant, and which may be used: what callers and the configuration say, parsed once.

use std::fmt;

use toolgate_core::{Error, Kind, Result};

use crate::Unready;

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repo {
    pub(super) owner: String,
    pub(super) name: String,
}

impl Repo {
    pub(super) fn parse(owner: &str, name: &str) -> Result<Self> {
        if !is_owner(owner) {
            return Err(Error::new(Kind::InvalidInput, "`owner` is no name of a user or an organization")
                .hint("give only the owner, such as `octo-org`: letters, digits and `-`"));
        }
        if !is_name(name) {
            return Err(Error::new(Kind::InvalidInput, "`repo` is no name of a repository")
                .hint("give only the name, such as `octo-repo`: letters, digits, `-`, `_` and `.`"));
        }
        Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Whether both are the same to GitHub.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// Repositories that may be used.
#[derive(Debug)]
pub(super) struct Allowed {
    owner: String,
    /// Any of the owner's, if there is none.
    name: Option<String>,
}

impl Allowed {
    pub(super) fn parse(text: &str) -> Result<Self, Unready> {
        let parsed =
            text.split_once('/').filter(|(owner, name)| is_owner(owner) && (*name == "*" || is_name(name)));
        let Some((owner, name)) = parsed else {
            let message = format!("holds `{text}`, which names no repository");
            return Err(Unready::wrong("github.repos", message, "write `owner/name` or `owner/*`"));
        };
        Ok(Self { owner: owner.to_owned(), name: (name != "*").then(|| name.to_owned()) })
    }

    pub(super) fn includes(&self, repo: &Repo) -> bool {
        self.owner.eq_ignore_ascii_case(&repo.owner)
            && self.name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&repo.name))
    }
}

/// The name of a user, also of those that an enterprise manages.
pub(super) fn is_owner(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=39).contains(&text.len()) && !text.starts_with(['-', '_']) && text.bytes().all(fits)
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=100).contains(&text.len()) && text != "." && text != ".." && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(owner: &str, name: &str, expect: bool) {
        assert_eq!(Repo::parse(owner, name).is_ok(), expect, "{owner:?} {name:?}");
    }

    #[test]
    fn a_repository_is_two_plain_names() {
        check("octo-org", "octo.repo_1", true);
        check("ada_corp", ".github", true);
        for owner in ["", "-a", "a/b", "a b", "..", "a?b", "a#b", "a%2f", "ä", &"a".repeat(40)] {
            check(owner, "repo", false);
        }
        for name in ["", ".", "..", "a/b", "../user", "a?b=c", "a#b", "a b", "a%2Fb", "a\n", &"a".repeat(101)]
        {
            check("octo", name, false);
        }
    }

    #[test]
    fn a_rule_includes_a_repository_or_all_of_an_owner() {
        #[track_caller]
        fn check(rule: &str, owner: &str, name: &str, expect: bool) {
            let repo = Repo::parse(owner, name).unwrap();
            assert_eq!(Allowed::parse(rule).unwrap().includes(&repo), expect, "{rule} {repo}");
        }
        check("Octo/Repo", "octo", "repo", true);
        check("octo/repo", "octo", "repo2", false);
        check("octo/repo", "octo2", "repo", false);
        check("octo/*", "octo", "any", true);
        check("octo/*", "octo-2", "any", false);
        for rule in ["", "*", "octo", "octo/", "/repo", "octo/r*", "a/b/c"] {
            assert!(Allowed::parse(rule).is_err(), "{rule}");
        }
    }
}

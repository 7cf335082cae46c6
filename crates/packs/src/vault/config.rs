//! What can be set for the vault.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::git::Remote;
use crate::Unready;

/// What to write as an address.
pub(super) const ADDRESS: &str = "give an `https`, `ssh`, `http` or `file` address";

/// What can be set for the vault. Written as text it shows its token.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VaultConfig {
    /// The folder of Markdown notes. Without it there is no vault.
    #[schemars(example = "/path/to/a/folder")]
    pub root: Option<PathBuf>,
    /// The most bytes that are read at once. Of a larger note lines can be read, and only its name is searched.
    pub max_read_bytes: u64,
    /// The most bytes that a note may have after a write.
    pub max_write_bytes: u64,
    /// Keeping the vault the same as a git repository elsewhere.
    pub git: VaultGitConfig,
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self { root: None, max_read_bytes: 1 << 20, max_write_bytes: 4 << 20, git: VaultGitConfig::default() }
    }
}

/// What can be set for the git repository of a vault.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VaultGitConfig {
    /// Whether notes are committed when they are written, and pulled and pushed as the other keys say.
    pub enabled: bool,
    /// How commits from elsewhere come in, before reading and writing: not at all (`off`), only where nothing has to
    /// be put together (`ff-only`), or with our own commits put after them (`rebase`).
    pub pull: Pull,
    /// Whether commits are pushed.
    pub push: bool,
    /// Where to pull from and push to, by `https`, `ssh`, `http` or `file`. Without it: the address of the remote
    /// `origin` in the repository's own configuration, of which nothing else counts.
    #[schemars(example = "https://git.example.com/notes.git")]
    pub url: Option<String>,
    /// Who signs in over HTTP; many services take any name beside a token.
    pub username: String,
    /// The password or token for HTTP. Nothing else of git's ways to find credentials is used.
    #[schemars(example = "{secret:VAULT_TOKEN}")]
    pub token: Option<String>,
    /// Who commits, as `Name <address>`.
    pub author: String,
    /// How many milliseconds a pull stays good for reading; before a write there is always one.
    pub fresh_ms: u64,
    /// How many milliseconds each step of git may take.
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
}

impl Default for VaultGitConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            pull: Pull::FfOnly,
            push: true,
            url: None,
            username: "git".into(),
            token: None,
            author: "Toolgate <toolgate@localhost>".into(),
            fresh_ms: 30_000,
            timeout_ms: 30_000,
        }
    }
}

/// How commits from elsewhere come in.
// The variants carry no doc comments: those would turn the schema's plain `enum` into a `oneOf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the key that holds it says what they mean")]
pub enum Pull {
    Off,
    FfOnly,
    Rebase,
}

impl VaultConfig {
    /// Whether what is written can be meant, without a look at the folder.
    ///
    /// # Errors
    /// It cannot.
    pub fn check(&self) -> Result<(), Unready> {
        let git = &self.git;
        if let Some(url) = &git.url {
            let remote = Remote::parse(url).map_err(|what| Unready::wrong("vault.git.url", what, ADDRESS))?;
            if git.token.is_some() && remote.is_open() {
                let hint = "use an `https` address, or one of this machine";
                return Err(Unready::wrong(
                    "vault.git.url",
                    "would have the token travel in the clear",
                    hint,
                ));
            }
        }
        if git.enabled && git.token.is_some() && git.url.is_none() {
            // Whoever can write that file would be sent the token.
            let what = "would go wherever `.git/config` says";
            return Err(Unready::wrong("vault.git.token", what, "set `vault.git.url` too"));
        }
        if author(&git.author).is_none() {
            let hint = "write it as `Name <address>`";
            return Err(Unready::wrong("vault.git.author", "is no name and address", hint));
        }
        let plain = |text: &str| !text.contains(|c: char| c.is_control());
        if git.username.contains(':') || !plain(&git.username) {
            return Err(Unready::wrong(
                "vault.git.username",
                "cannot be a user's name",
                "leave out colons and line breaks",
            ));
        }
        Ok(())
    }
}

/// The name and the address of an author.
pub(super) fn author(text: &str) -> Option<(&str, &str)> {
    let (name, address) = text.strip_suffix('>')?.split_once(" <")?;
    let fits =
        |text: &str| !text.trim().is_empty() && !text.contains(|c: char| "<>".contains(c) || c.is_control());
    (fits(name) && fits(address)).then_some((name, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_has_a_name_and_an_address() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, &str)>) {
            assert_eq!(author(text), expect, "{text}");
        }
        check("Toolgate <toolgate@localhost>", Some(("Toolgate", "toolgate@localhost")));
        check("A B <a@b>", Some(("A B", "a@b")));
        for text in ["", "A", "A <>", " <a@b>", "A <a@b", "A <a> <b>", "A\n <a@b>"] {
            check(text, None);
        }
    }
}

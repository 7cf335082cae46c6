//! The hash of a script's bytes, by which it is approved.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How it is written.
const PREFIX: &str = "sha256:";

/// The hash of a script's bytes: `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Hash(String);

/// A text that is no hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no hash: write `sha256:` and 64 hexadecimal digits, as `toolgate script list` shows them")]
pub struct BadHash;

impl Hash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{PREFIX}{digits}"))
    }

    /// Its first digits, to tell it from others at a glance.
    pub fn short(&self) -> &str {
        &self.0[PREFIX.len()..PREFIX.len() + 16]
    }
}

impl FromStr for Hash {
    type Err = BadHash;

    fn from_str(text: &str) -> Result<Self, BadHash> {
        let digits = text.strip_prefix(PREFIX).ok_or(BadHash)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() == 64 && digits.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadHash)
        }
    }
}

impl TryFrom<String> for Hash {
    type Error = BadHash;

    fn try_from(text: String) -> Result<Self, BadHash> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = Hash::of(b"result = 1\n");
        assert_eq!(hash.to_string().parse(), Ok(hash.clone()));
        assert_eq!(hash.short().len(), 16);
        assert_ne!(hash, Hash::of(b"result = 2\n"));
        for wrong in ["", "sha256:", "sha256:12", &hash.to_string()[7..], &hash.to_string().to_uppercase()] {
            assert_eq!(wrong.parse::<Hash>(), Err(BadHash), "{wrong}");
        }
    }
}

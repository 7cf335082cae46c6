//! Random texts that let someone in; only their hashes are kept.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use toolgate_core::{Error, Kind};

/// How many random bytes are in one.
const BYTES: usize = 32;

/// A text that nobody can guess: 43 characters.
pub(super) fn random() -> Result<String, Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(Kind::Internal, "the system has no randomness").because(error))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What is kept of a text.
pub(super) fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// A text that belongs to another, from which that cannot be found.
pub(super) fn derived(purpose: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(purpose.as_bytes());
    hash.update([0]);
    hash.update(text.as_bytes());
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_texts_are_the_same_and_what_is_kept_does_not_show_them() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
        assert_eq!(hash(&one).len(), 64);
        assert_ne!(hash(&one), hash(&other));
        assert_ne!(derived("a", &one), derived("b", &one));
        assert_ne!(derived("a", &one), one);
    }
}

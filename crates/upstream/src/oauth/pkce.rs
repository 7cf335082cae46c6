//! Words that nobody can guess, and the proof that a code is ours.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::error::OauthError;

/// A word of 256 bits that nobody can guess.
pub(super) fn random_word() -> Result<String, OauthError> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|_| OauthError::unavailable("the machine gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(random))
}

/// What is shown of a verifier beforehand (RFC 7636, `S256`).
pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn words_are_long_and_never_the_same() {
        let (one, other) = (random_word().unwrap(), random_word().unwrap());
        assert_eq!((one.len(), one == other), (43, false));
    }
}

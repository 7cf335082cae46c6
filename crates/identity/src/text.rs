//! A token as it is written: `tg_<id>_<secret>`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use toolgate_core::{Error, Kind};
use toolgate_host::Secret;

/// How every token begins, so that people and scanners know it for one.
const PREFIX: &str = "tg_";

/// How many letters an id has.
const ID_LENGTH: usize = 10;

/// The letters of an id; none of them looks like another.
const ID_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// How many letters, digits, `-` and `_` the secret of a token has: 32 bytes in base64.
const SECRET_LENGTH: usize = 43;

/// The hash of a text.
pub(crate) type Digest = [u8; 32];

/// A token that someone brought.
pub(crate) struct TokenText<'a> {
    pub(crate) id: &'a str,
    secret: &'a str,
}

impl<'a> TokenText<'a> {
    /// Reads a text; `None` if it is no token of ours.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        Some(Self { id, secret })
    }

    pub(crate) fn digest(&self) -> Digest {
        digest(self.secret)
    }
}

/// What the token of an id begins with, and how many characters follow: letters, digits, `-` and `_`.
pub fn token_opening(id: &str) -> (String, usize) {
    (format!("{PREFIX}{id}_"), SECRET_LENGTH)
}

/// The hash of a text.
pub(crate) fn digest(text: &str) -> Digest {
    Sha256::digest(text).into()
}

/// A new token: its id, the hash of its secret, and the text that is shown once.
pub(crate) fn create() -> Result<(String, Digest, Secret), Error> {
    let mut random = [0; ID_LENGTH + 32];
    getrandom::fill(&mut random).map_err(|error| {
        Error::new(Kind::Internal, "the system gave no random bytes").because(std::io::Error::other(error))
    })?;
    let (for_id, for_secret) = random.split_at(ID_LENGTH);
    // 32 letters divide 256: each is as likely as any other.
    let id: String = for_id.iter().map(|byte| char::from(ID_LETTERS[usize::from(byte % 32)])).collect();
    let secret = URL_SAFE_NO_PAD.encode(for_secret);
    let (hash, text) = (digest(&secret), format!("{}{secret}", token_opening(&id).0));
    Ok((id, hash, Secret::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_token_reads_back() {
        let (id, hash, text) = create().unwrap();
        let read = TokenText::read(text.expose()).unwrap();
        assert_eq!((read.id, read.digest()), (id.as_str(), hash));
        assert_eq!(text.expose().len(), 3 + ID_LENGTH + 1 + 43);
        let (opening, rest) = token_opening(&id);
        assert_eq!(text.expose().strip_prefix(&opening).map(str::len), Some(rest));
        assert_ne!(create().unwrap().0, id);
    }

    #[test]
    fn other_texts_are_no_tokens() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, &str)>) {
            assert_eq!(TokenText::read(text).map(|text| (text.id, text.secret)), expect, "{text}");
        }
        check("tg_abc_def", Some(("abc", "def")));
        check("tg_abc_d_e-f", Some(("abc", "d_e-f")));
        check("tg__", Some(("", "")));
        check("tg_abc", None);
        check("TG_abc_def", None);
        check(" tg_abc_def", None);
        check("eyJhbGciOiJub25lIn0.e30.", None);
    }
}

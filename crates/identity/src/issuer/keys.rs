//! The public keys of an issuer.

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// How many keys are taken.
const MOST: usize = 100;

/// The public keys of an issuer, and what holds as long as they do.
#[derive(Default)]
pub(super) struct Keys {
    all: Vec<Key>,
    /// Cancelled when one of them is gone.
    pub(super) ended: CancellationToken,
}

/// One public key.
pub(super) struct Key {
    jwk: Jwk,
    pub(super) key: DecodingKey,
}

impl Keys {
    /// Reads a key set; keys of kinds that we do not know are left out. `None` if it is none.
    pub(super) fn read(set: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(set).ok()?;
        let all = set.get("keys")?.as_array()?.iter().take(MOST).filter_map(Key::read).collect();
        Some(Self { all, ended: CancellationToken::new() })
    }

    /// The key by its id; without an id, the only one that fits.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let mut fitting = self.all.iter().filter(|key| key.fits(algorithm));
        match id {
            Some(id) => fitting.find(|key| key.jwk.common.key_id.as_deref() == Some(id)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }

    /// The same, for as long as the old ones hold.
    pub(super) fn in_place_of(self, old: &Self) -> Self {
        Self { ended: old.ended.clone(), ..self }
    }

    pub(super) fn hold_all_of(&self, old: &Self) -> bool {
        old.all.iter().all(|old| self.all.iter().any(|new| new.jwk == old.jwk))
    }
}

impl Key {
    fn read(value: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        // A secret that is published is none; and a key that encrypts does not sign.
        let signs =
            !matches!(jwk.algorithm, AlgorithmParameters::OctetKey(_) | AlgorithmParameters::Other(_))
                && jwk
                    .common
                    .public_key_use
                    .as_ref()
                    .is_none_or(|purpose| *purpose == PublicKeyUse::Signature);
        let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| signs)?;
        Some(Self { jwk, key })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let said = self.jwk.common.key_algorithm.as_ref();
        let is_said = said.is_none_or(|said| said.to_string() == format!("{algorithm:?}"));
        is_said && algorithm.family() == self.key.family()
    }
}

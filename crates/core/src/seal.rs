//! The sealed envelope that travels as `requestState`: nobody but us can read or change it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolgate_wire::{Raw, digest_without};

use crate::{Error, Kind, Principal, Result, Target};

const NONCE: usize = 24;
const PURPOSE: &[u8] = b"toolgate requestState 1";

/// The params that may be others when a call is tried again.
const CHANGING: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What an envelope says: whose call it is, which call, until when, and how to go on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) principal: String,
    pub(crate) digest: String,
    pub(crate) expires_ms: u64,
    pub(crate) next: Next,
}

/// How a call that asked something goes on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Next {
    /// A run of ours waits under this number.
    Parked(u64),
    /// The source answers again.
    Source(Round),
}

/// Where a call stands whose source asks by result.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    /// How often the source has asked.
    pub(crate) asked: usize,
    /// The number under which a person's yes waits, where one was needed.
    pub(crate) consent: Option<u64>,
    /// The source's own state, which it is given back.
    pub(crate) state: Option<String>,
}

/// Seals and opens envelopes with one key.
pub(crate) struct Sealer {
    cipher: XChaCha20Poly1305,
}

impl Sealer {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self { cipher: XChaCha20Poly1305::new(&Key::from(*key)) }
    }

    /// A sealer whose envelopes end with this process.
    pub(crate) fn random() -> Result<Self> {
        Ok(Self::new(&random_bytes()?))
    }

    pub(crate) fn seal(&self, state: &State) -> Result<String> {
        let nonce: [u8; NONCE] = random_bytes()?;
        let plain = Raw::of(state);
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: plain.as_bytes(), aad: PURPOSE })
            .map_err(|_| Error::new(Kind::Internal, "the state of the call could not be sealed"))?;
        Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
    }

    pub(crate) fn open(&self, text: &str, now_ms: u64) -> Result<State> {
        let state = self.read(text).ok_or_else(|| {
            Error::new(Kind::InvalidParams, "`requestState` is not one this server gave out")
                .hint("send back exactly what the `input_required` result held, or call anew")
        })?;
        if state.expires_ms < now_ms {
            return Err(Error::new(Kind::InvalidParams, "`requestState` has expired").hint("call anew"));
        }
        Ok(state)
    }

    fn read(&self, text: &str) -> Option<State> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let plain = self.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: PURPOSE }).ok()?;
        serde_json::from_slice(&plain).ok()
    }
}

impl State {
    /// Fails when the envelope belongs to another caller or another call.
    pub(crate) fn belongs_to(&self, principal: &Principal, digest: &str) -> Result<()> {
        if self.principal == principal.id.as_str() && self.digest == digest {
            return Ok(());
        }
        Err(Error::new(Kind::InvalidParams, "`requestState` belongs to another call")
            .hint("retry with the same method, name and arguments, or call anew"))
    }
}

/// The digest of a call as text: base64 of 32 bytes.
pub(crate) struct CallDigest([u8; 43]);

impl CallDigest {
    /// See [`digest`].
    pub(crate) fn of(target: &Target, params: &Raw) -> Self {
        let params = digest_without(params, &CHANGING);
        // In one piece: each costs more than its bytes.
        let all = [target.kind().as_bytes(), &[0], target.name().as_bytes(), &[0], &params].concat();
        let mut text = [b'A'; 43];
        // It fits.
        let written = URL_SAFE_NO_PAD.encode_slice(Sha256::digest(all), &mut text);
        debug_assert_eq!(written, Ok(text.len()));
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// What a call is, whatever its id and its round: target and params without what may change in a retry.
pub(crate) fn digest(target: &Target, params: &Raw) -> String {
    CallDigest::of(target, params).as_str().to_owned()
}

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(Kind::Internal, "the system gave no random bytes").because(error.to_string())
    })?;
    Ok(bytes)
}

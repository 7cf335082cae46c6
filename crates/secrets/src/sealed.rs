//! A secret as the store keeps it: sealed under the key, and bound to its name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use toolgate_core::Document;
use toolgate_host::Secret;
use zeroize::Zeroizing;

use crate::SecretError;
use crate::key::Key;

const VERSION: u32 = 1;
const NONCE: usize = 24;

/// The body of a document.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sealed {
    version: u32,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    /// Nonce and cipher text, in base64.
    sealed: String,
}

/// When a secret was first stored, and last.
pub(crate) struct Times {
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
}

impl Sealed {
    pub(crate) fn seal(
        key: &Key,
        label: Label<'_>,
        value: &Secret,
        times: Times,
    ) -> Result<Self, SecretError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SecretError::NoRandom)?;
        let bound = label.bound();
        let payload = Payload { msg: value.expose().as_bytes(), aad: bound.as_bytes() };
        let sealed = cipher(key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| SecretError::WrongKey { name: label.name.to_owned() })?;
        Ok(Self {
            version: VERSION,
            created_ms: times.created_ms,
            updated_ms: times.updated_ms,
            sealed: STANDARD.encode([nonce.as_slice(), &sealed].concat()),
        })
    }

    /// Reads a document; needs no key.
    pub(crate) fn read(document: &Document) -> Result<Self, SecretError> {
        let name = || document.id.clone();
        let this: Self =
            serde_json::from_str(&document.body).map_err(|_| SecretError::WrongKey { name: name() })?;
        if this.version != VERSION {
            return Err(SecretError::LaterVersion { name: name() });
        }
        Ok(this)
    }

    pub(crate) fn open(&self, key: &Key, label: Label<'_>) -> Result<Secret, SecretError> {
        self.decrypt(key, label).ok_or_else(|| SecretError::WrongKey { name: label.name.to_owned() })
    }

    fn decrypt(&self, key: &Key, label: Label<'_>) -> Option<Secret> {
        let bytes = STANDARD.decode(&self.sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let bound = label.bound();
        let payload = Payload { msg: sealed, aad: bound.as_bytes() };
        let plain = Zeroizing::new(cipher(key).decrypt(&XNonce::from(*nonce), payload).ok()?);
        str::from_utf8(&plain).ok().map(|text| Secret::new(text.to_owned()))
    }
}

fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&chacha20poly1305::Key::from(**key))
}

/// What a sealed value belongs to: moved to another name or another kind it does not open.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> Label<'a> {
    pub(crate) fn secret(name: &'a str) -> Self {
        Self { kind: "secret", name }
    }

    fn bound(self) -> String {
        format!("toolgate {} {VERSION} {}", self.kind, self.name)
    }
}

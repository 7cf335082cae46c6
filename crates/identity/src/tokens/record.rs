//! A token as the store keeps it, and as a person sees it.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolgate_core::{Document, StoreError};

use super::{NewToken, REMEMBERED};
use crate::text::Digest;

/// A token as the store keeps it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct Record {
    #[serde(with = "hex")]
    pub(super) hash: Digest,
    pub(super) principal: String,
    #[serde(default)]
    pub(super) roles: Vec<String>,
    #[serde(default)]
    note: String,
    created_ms: u64,
    #[serde(default)]
    created_by: String,
    pub(super) expires_ms: Option<u64>,
    pub(super) revoked_ms: Option<u64>,
}

/// Whether a token holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenState {
    /// It does.
    Active,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl fmt::Display for TokenState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        })
    }
}

/// A token as a person sees it. Its secret is no part of it. Times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenInfo {
    /// What it is called; no secret.
    pub id: String,
    /// Whether it holds.
    pub state: TokenState,
    /// For whom it stands.
    pub principal: String,
    /// The roles it brings along.
    pub roles: Vec<String>,
    /// What it is for.
    pub note: String,
    /// When it was made.
    pub created_ms: u64,
    /// Who made it.
    pub created_by: String,
    /// When its time is over.
    pub expires_ms: Option<u64>,
    /// When it was used last, to about a minute.
    pub last_used_ms: Option<u64>,
    /// When it was taken back.
    pub revoked_ms: Option<u64>,
}

impl Record {
    pub(super) fn new(new: &NewToken, hash: Digest, now_ms: u64) -> Self {
        let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            hash,
            principal: new.principal.as_str().to_owned(),
            roles: new.roles.iter().map(|role| role.as_str().to_owned()).collect(),
            note: new.note.clone(),
            created_ms: now_ms,
            created_by: new.created_by.clone(),
            expires_ms: new.expires_in.map(|time| now_ms.saturating_add(ms(time))),
            revoked_ms: None,
        }
    }

    pub(super) fn read(document: &Document) -> Result<Self, StoreError> {
        serde_json::from_str(&document.body).map_err(|error| {
            StoreError::new(format!("the token `{}` in the store cannot be read", document.id))
                .hint("revoke it by removing it from the store, and make a new one")
                .because(error)
        })
    }

    pub(super) fn to_body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// When the store may forget it.
    pub(super) fn forget_ms(&self) -> Option<u64> {
        let ended_ms = [self.expires_ms, self.revoked_ms].into_iter().flatten().min()?;
        // Databases count up to the largest signed number.
        let kept_ms = u64::try_from(REMEMBERED.as_millis()).unwrap_or(u64::MAX);
        Some(ended_ms.saturating_add(kept_ms).min(i64::MAX.unsigned_abs()))
    }

    pub(super) fn info(&self, id: &str, last_used_ms: Option<u64>, now_ms: u64) -> TokenInfo {
        let state = match (self.revoked_ms, self.expires_ms) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(expires_ms)) if expires_ms <= now_ms => TokenState::Expired,
            (None, _) => TokenState::Active,
        };
        TokenInfo {
            id: id.to_owned(),
            state,
            principal: self.principal.clone(),
            roles: self.roles.clone(),
            note: self.note.clone(),
            created_ms: self.created_ms,
            created_by: self.created_by.clone(),
            expires_ms: self.expires_ms,
            last_used_ms,
            revoked_ms: self.revoked_ms,
        }
    }
}

/// A hash as text.
mod hex {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::text::Digest;

    pub(super) fn serialize<S: Serializer>(hash: &Digest, to: S) -> Result<S::Ok, S::Error> {
        let text: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        let byte = |at: usize| text.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| D::Error::custom("no SHA-256 in hexadecimal"))
    }
}

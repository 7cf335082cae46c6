//! Tokens, secrets, and whom they are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A token by which a client is known. Its text is no part of it. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Token {
    /// What it is called; no secret.
    pub id: String,
    /// `active`, `expired` or `revoked`.
    pub state: String,
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

/// A token to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// For whom.
    #[schemars(length(min = 1, max = 128))]
    pub principal: String,
    /// The roles it brings along.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub roles: Vec<String>,
    /// For how many seconds; without it, until it is revoked.
    #[serde(default)]
    #[schemars(range(min = 60, max = 315_360_000))]
    pub expires_in_seconds: Option<u64>,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub note: String,
}

/// A token that was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MadeToken {
    /// Its text, which is shown this once.
    pub token: String,
    /// What is known of it.
    pub info: Token,
}

/// What may be known of a secret. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Secret")]
pub struct SecretInfo {
    /// Its name.
    pub name: String,
    /// When it was first stored.
    pub created_ms: u64,
    /// When it was last stored.
    pub updated_ms: u64,
}

/// Someone who calls, or may.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "Principal")]
pub struct PrincipalInfo {
    /// Its name.
    pub name: String,
    /// Its roles, of the settings and of its tokens.
    pub roles: Vec<String>,
    /// Whether there is a table for it in the settings.
    pub configured: bool,
    /// How many of its tokens hold.
    pub tokens: usize,
    /// How many clients of it are connected now.
    pub connections: usize,
    /// When one of its tokens was used last, in milliseconds since 1970.
    pub last_used_ms: Option<u64>,
}

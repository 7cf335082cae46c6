//! What can be set for tokens of an issuer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens (JWTs) of an issuer: an authorization server of OAuth 2.1 or OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OauthConfig {
    /// The issuer, exactly as its tokens name it. With it, every client has to bring a token.
    #[schemars(example = "https://login.example.com")]
    pub issuer: Option<String>,
    /// Where the issuer's keys are. If not set, the issuer's metadata say so.
    #[schemars(example = "https://login.example.com/keys")]
    pub jwks_url: Option<String>,
    /// The audiences of which a token has to name one. If empty: `http.public_url` followed by `/mcp`.
    pub audience: Vec<String>,
    /// The signatures that are taken.
    pub algorithms: Vec<JwtAlgorithm>,
    /// Scopes that every token needs.
    pub required_scopes: Vec<String>,
    /// The roles that a scope, or a role that the issuer gives, brings along.
    pub roles: BTreeMap<String, Vec<String>>,
    /// The claim that names the principal.
    pub principal_claim: String,
    /// By how many seconds the issuer's clock may differ from ours.
    pub leeway_seconds: u64,
}

/// A signature by a key pair. Those by a shared secret are not taken, and neither is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum JwtAlgorithm {
    /// RSA, SHA-256.
    RS256,
    /// RSA, SHA-384.
    RS384,
    /// RSA, SHA-512.
    RS512,
    /// RSA-PSS, SHA-256.
    PS256,
    /// RSA-PSS, SHA-384.
    PS384,
    /// RSA-PSS, SHA-512.
    PS512,
    /// ECDSA on P-256.
    ES256,
    /// ECDSA on P-384.
    ES384,
    /// Ed25519.
    EdDSA,
}

impl Default for OauthConfig {
    fn default() -> Self {
        Self {
            issuer: None,
            jwks_url: None,
            audience: Vec::new(),
            algorithms: vec![JwtAlgorithm::RS256, JwtAlgorithm::ES256, JwtAlgorithm::EdDSA],
            required_scopes: Vec::new(),
            roles: BTreeMap::new(),
            principal_claim: "sub".into(),
            leeway_seconds: 30,
        }
    }
}

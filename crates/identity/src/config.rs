//! What can be set about who is known.

use toolgate_core::OauthConfig;
use toolgate_host::Secret;

/// What can be set about who is known.
#[derive(Debug, Clone, Default)]
pub struct IdentityConfig {
    /// The one token of the configuration, which stands for the principal `token`.
    pub token: Option<Secret>,
    /// The address by which clients reach this server.
    pub public_url: Option<String>,
    /// Whose tokens are taken besides ours.
    pub oauth: OauthConfig,
}

/// Why nobody can be known as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("{message}\nhint: {hint}")]
pub struct IdentityError {
    message: String,
    hint: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl IdentityError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), source: None }
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

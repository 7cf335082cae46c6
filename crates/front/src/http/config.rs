//! What can be set for HTTP.

use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::OauthConfig;

/// What can be set for HTTP. Written as text it shows its token.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// The address to listen on. Beyond loopback every client needs a token: of `token`, of `toolgate token create`, or of
    /// the issuer in `http.oauth`.
    pub bind: String,
    /// The port to listen on; 0 takes any free one.
    pub port: u16,
    /// Names, besides those of this machine's loopback, by which clients may address the server.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may use the server; `*` allows all.
    pub cors_origins: Vec<String>,
    /// Whether legacy clients get a session; without one they cannot be asked anything.
    pub sessions: bool,
    /// How many sessions are kept at once.
    pub max_sessions: usize,
    /// After how many seconds an idle session ends.
    pub session_idle_seconds: u64,
    /// How many connections are served at once.
    pub max_connections: usize,
    /// The largest body of a request, in bytes.
    pub max_body_bytes: usize,
    /// A secret that every client has to send as `Authorization: Bearer …`; at least 16 characters.
    #[schemars(example = "change me")]
    pub token: Option<String>,
    /// Whether clients on this machine need a token, too.
    pub require_token: bool,
    /// The address by which clients reach the server, where a proxy stands before it.
    #[schemars(example = "https://tools.example.com")]
    pub public_url: Option<String>,
    /// Tokens (JWTs) of an issuer: an authorization server of OAuth 2.1 or OpenID Connect.
    pub oauth: OauthConfig,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            bind: "127.0.0.1".into(),
            port: 3000,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            sessions: true,
            max_sessions: 20_000,
            session_idle_seconds: 3600,
            max_connections: 1024,
            max_body_bytes: 4 * 1024 * 1024,
            token: None,
            require_token: false,
            public_url: None,
            oauth: OauthConfig::default(),
        }
    }
}

/// Why the server cannot listen as it is configured to.
#[derive(Debug, thiserror::Error)]
#[error("{message}\nhint: {hint}")]
pub struct BindError {
    message: String,
    hint: String,
    #[source]
    source: Option<std::io::Error>,
}

impl BindError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), source: None }
    }

    pub(super) fn taken(address: SocketAddr, source: std::io::Error) -> Self {
        let (message, hint) = match source.raw_os_error().map(|_| source.kind()) {
            Some(std::io::ErrorKind::AddrInUse) => (
                format!("`{address}` is in use by another program"),
                format!(
                    "choose another port, for instance `--port {}`",
                    address.port().wrapping_add(1).max(1024)
                ),
            ),
            Some(std::io::ErrorKind::PermissionDenied) => (
                format!("`{address}` may not be used"),
                "choose a port of 1024 or above with `--port`".into(),
            ),
            _ => (
                format!("cannot listen on `{address}`: {source}"),
                "check `http.bind` and `http.port`".into(),
            ),
        };
        Self { message, hint, source: Some(source) }
    }
}

impl HttpConfig {
    /// The address to listen on.
    ///
    /// # Errors
    /// `bind` is no address.
    pub fn address(&self) -> Result<SocketAddr, BindError> {
        let host = match self.bind.as_str() {
            "localhost" => "127.0.0.1",
            host => host.trim_start_matches('[').trim_end_matches(']'),
        };
        let ip: IpAddr = host.parse().map_err(|_| {
            BindError::new(
                format!("`http.bind` is `{}`, which is no IP address", self.bind),
                "use `127.0.0.1`, `::1`, `localhost`, or an address of this machine",
            )
        })?;
        Ok(SocketAddr::new(ip, self.port))
    }
}

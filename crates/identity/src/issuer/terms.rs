//! What is configured for an issuer, as it is meant.

use std::collections::HashMap;
use std::sync::Arc;

use jsonwebtoken::Algorithm;
use toolgate_core::{JwtAlgorithm, OauthConfig, ProtectedResource};
use toolgate_host::outbound;
use url::Url;

use crate::config::IdentityError;
use crate::name::RoleName;

/// What is configured for an issuer, as it is meant.
pub(crate) struct Terms {
    pub(crate) issuer: String,
    /// The issuer's host, with its port where that is unusual.
    pub(crate) host: String,
    pub(crate) jwks_url: Option<String>,
    /// The address of this server.
    base: String,
    pub(crate) audience: Vec<String>,
    /// Whether an audience may also be the endpoint of a profile.
    by_profile: bool,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) required_scopes: Arc<[String]>,
    pub(crate) roles: HashMap<String, Vec<Arc<str>>>,
    pub(crate) principal_claim: String,
    pub(crate) leeway_ms: u64,
}

impl Terms {
    /// Reads what is configured; `None` without an issuer.
    pub(crate) fn new(config: &OauthConfig, public_url: Option<&str>) -> Result<Option<Self>, IdentityError> {
        let Some(issuer) = config.issuer.clone() else { return Ok(None) };
        let host = address(&issuer, "http.oauth.issuer")?;
        if let Some(url) = &config.jwks_url {
            address(url, "http.oauth.jwks_url")?;
        }
        let Some(public_url) = public_url else {
            let message = "`http.oauth.issuer` is set, and `http.public_url` is not";
            return Err(IdentityError::new(
                message,
                "set it to the address that clients use, for instance `https://tools.example.com`",
            ));
        };
        let base = base(public_url)?;
        if config.algorithms.is_empty() || config.principal_claim.is_empty() {
            let message = "`http.oauth.algorithms` or `http.oauth.principal_claim` is empty";
            return Err(IdentityError::new(message, "leave them out to use the defaults"));
        }
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
        };
        if let Some(wrong) = config.required_scopes.iter().find(|scope| !is_scope(scope)) {
            let message = format!("`http.oauth.required_scopes` holds `{wrong}`, which is no scope");
            return Err(IdentityError::new(message, "a scope has no spaces, quotes and backslashes"));
        }
        Ok(Some(Self {
            issuer,
            host,
            jwks_url: config.jwks_url.clone(),
            by_profile: config.audience.is_empty(),
            audience: match config.audience.as_slice() {
                [] => vec![format!("{base}/mcp")],
                audience => audience.to_vec(),
            },
            base,
            algorithms: config.algorithms.iter().copied().map(algorithm).collect(),
            required_scopes: config.required_scopes.clone().into(),
            roles: roles(config)?,
            principal_claim: config.principal_claim.clone(),
            leeway_ms: config.leeway_seconds.saturating_mul(1000),
        }))
    }

    /// The profile whose endpoint an audience names.
    pub(crate) fn profile_of(&self, audience: &str) -> Option<String> {
        let rest = audience.strip_prefix(&self.base).filter(|_| self.by_profile)?;
        let name = rest.strip_prefix("/p/")?.strip_suffix("/mcp")?;
        (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
    }

    /// What clients are told of where to get tokens.
    pub(crate) fn resource(&self) -> ProtectedResource {
        let mut scopes: Vec<String> = self.required_scopes.to_vec();
        let mut others: Vec<String> =
            self.roles.keys().filter(|scope| !scopes.contains(scope)).cloned().collect();
        others.sort();
        scopes.append(&mut others);
        let (base, issuer) = (self.base.clone(), self.issuer.clone());
        ProtectedResource { base, issuer, required_scopes: self.required_scopes.clone(), scopes }
    }
}

fn roles(config: &OauthConfig) -> Result<HashMap<String, Vec<Arc<str>>>, IdentityError> {
    let mut all = HashMap::new();
    for (granted, roles) in &config.roles {
        let mut parsed = Vec::new();
        for role in roles {
            let name: RoleName = role.parse().map_err(|error: toolgate_core::Error| {
                let hint = error.next_step().unwrap_or_default().to_owned();
                IdentityError::new(format!("`http.oauth.roles`: {error}"), hint)
            })?;
            parsed.push(Arc::from(name.as_str()));
        }
        all.insert(granted.clone(), parsed);
    }
    Ok(all)
}

/// The host of an address from which keys may come.
fn address(text: &str, key: &str) -> Result<String, IdentityError> {
    let url = Url::parse(text).ok().filter(|_| outbound::is_allowed(text));
    let url = url.filter(|url| url.fragment().is_none() && url.username().is_empty());
    let host = url.as_ref().and_then(|url| Some((url.host_str()?.to_owned(), url.port())));
    match host {
        Some((host, None)) => Ok(host),
        Some((host, Some(port))) => Ok(format!("{host}:{port}")),
        None => Err(IdentityError::new(
            format!("`{key}` is `{text}`, which is no address with `https`"),
            "`http` is only for this machine, as `http://127.0.0.1:8080`",
        )),
    }
}

/// The address of this server without a slash at its end.
fn base(public_url: &str) -> Result<String, IdentityError> {
    let url = Url::parse(public_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let bare = |url: &Url| url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    url.filter(bare).map(|url| url.origin().ascii_serialization()).ok_or_else(|| {
        IdentityError::new(
            format!("`http.public_url` is `{public_url}`, which is no address without a path"),
            "write it as `https://tools.example.com`",
        )
    })
}

fn algorithm(algorithm: JwtAlgorithm) -> Algorithm {
    match algorithm {
        JwtAlgorithm::RS256 => Algorithm::RS256,
        JwtAlgorithm::RS384 => Algorithm::RS384,
        JwtAlgorithm::RS512 => Algorithm::RS512,
        JwtAlgorithm::PS256 => Algorithm::PS256,
        JwtAlgorithm::PS384 => Algorithm::PS384,
        JwtAlgorithm::PS512 => Algorithm::PS512,
        JwtAlgorithm::ES256 => Algorithm::ES256,
        JwtAlgorithm::ES384 => Algorithm::ES384,
        JwtAlgorithm::EdDSA => Algorithm::EdDSA,
    }
}

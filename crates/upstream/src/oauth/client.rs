//! Who we are to an authorization server: known to it, described at an address, or registered by ourselves.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::json;
use toolgate_host::outbound::Request;
use url::Url;

use super::discovery::Authority;
use super::error::{OauthError, OauthReason};
use super::plan::OauthPlan;
use super::store::{Client, ClientAuth};
use super::ways::Ways;
use crate::config::GrantKind;
use crate::fault::short;

/// What it takes to become a client.
pub(super) struct Applicant<'a> {
    pub(super) ways: &'a Ways,
    pub(super) server: &'a str,
    pub(super) plan: &'a OauthPlan,
    pub(super) authority: &'a Authority,
    pub(super) now_ms: u64,
}

/// What a registration answers (RFC 7591).
#[derive(Deserialize)]
struct Registered {
    client_id: String,
    #[serde(default)]
    client_secret: Option<String>,
    #[serde(default)]
    client_secret_expires_at: Option<u64>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
}

impl Applicant<'_> {
    /// The client that needs no registration, if there is one: known already, or described at an address.
    pub(super) fn known(&self) -> Option<Client> {
        let id = self.plan.client_id.clone()?;
        let is_open = self.plan.own_client().is_none();
        if is_open && !self.authority.knows_documents && self.authority.registration_url.is_some() {
            return None;
        }
        let secret = self.plan.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        let method = self.method(secret.is_some());
        let issuer = self.authority.issuer.clone();
        Some(Client { issuer, id, secret, method, redirect_uri: None, expires_ms: None })
    }

    /// Whether there is any way to become a client.
    pub(super) fn can(&self) -> Result<(), OauthError> {
        if self.known().is_some() || self.authority.registration_url.is_some() {
            return Ok(());
        }
        Err(self.unknown("lets no client register itself"))
    }

    /// A client that may be answered at this address; one from before if it still counts.
    pub(super) async fn client(&self, before: Option<&Client>, redirect: &Url) -> Result<Client, OauthError> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let counts = |client: &&Client| {
            client.issuer == self.authority.issuer
                && client.redirect_uri.as_deref() == Some(redirect.as_str())
                && client.expires_ms.is_none_or(|at| at > self.now_ms)
        };
        if let Some(before) = before.filter(counts) {
            return Ok(before.clone());
        }
        self.can()?;
        self.register(redirect).await
    }

    async fn register(&self, redirect: &Url) -> Result<Client, OauthError> {
        let Some(url) = &self.authority.registration_url else {
            return Err(self.unknown("lets no client register itself"));
        };
        let supported = |method: &ClientAuth| {
            let methods = self.authority.methods.as_deref();
            methods.is_none_or(|all| all.iter().any(|one| one == method.as_str()))
        };
        let method = ClientAuth::ALL.into_iter().find(supported).unwrap_or(ClientAuth::None);
        let mut asked = json!({
            "client_name": "Toolgate",
            "redirect_uris": [redirect.as_str()],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method.as_str(),
            "application_type": "native",
            "software_id": "toolgate",
            "software_version": env!("CARGO_PKG_VERSION"),
        });
        if let Some(scope) = &self.plan.scope {
            asked["scope"] = scope.as_str().into();
        }
        let json = HeaderValue::from_static("application/json");
        let answer = self.ways.send(Request {
            method: Method::POST,
            url: url.to_string(),
            headers: vec![(CONTENT_TYPE, json.clone()), (ACCEPT, json)],
            body: Bytes::from(asked.to_string()),
        });
        let answer = answer.await?;
        match answer.status {
            200..=299 => self.registered(&answer.body, method, redirect),
            500.. => Err(OauthError::unavailable(format!("the registration answered {}", answer.status))),
            status => {
                let said = short(&String::from_utf8_lossy(&answer.body));
                Err(self.unknown(&format!("did not register us ({status}: {said})")))
            }
        }
    }

    fn registered(&self, body: &[u8], asked: ClientAuth, redirect: &Url) -> Result<Client, OauthError> {
        let said: Registered = serde_json::from_slice(body)
            .map_err(|_| OauthError::untrusted("the registration answered what cannot be read"))?;
        let secret = said.client_secret.filter(|secret| !secret.is_empty());
        let told = said.token_endpoint_auth_method.as_deref();
        let told = ClientAuth::ALL.into_iter().find(|method| told == Some(method.as_str()));
        let method = match told.unwrap_or(asked) {
            ClientAuth::None if secret.is_some() && told.is_none() => self.method(true),
            method @ (ClientAuth::Basic | ClientAuth::Post) if secret.is_some() => method,
            ClientAuth::None | ClientAuth::Basic | ClientAuth::Post => ClientAuth::None,
        };
        Ok(Client {
            issuer: self.authority.issuer.clone(),
            id: said.client_id,
            secret,
            method,
            redirect_uri: Some(redirect.to_string()),
            expires_ms: said.client_secret_expires_at.filter(|at| *at > 0).map(|at| at.saturating_mul(1000)),
        })
    }

    /// How a client with a secret proves who it is: in a header, unless only the body is read.
    fn method(&self, has_secret: bool) -> ClientAuth {
        if !has_secret {
            return ClientAuth::None;
        }
        let methods = self.authority.methods.as_deref().unwrap_or_default();
        let has = |wanted: ClientAuth| methods.iter().any(|method| method == wanted.as_str());
        if has(ClientAuth::Post) && !has(ClientAuth::Basic) { ClientAuth::Post } else { ClientAuth::Basic }
    }

    fn unknown(&self, why: &str) -> OauthError {
        let issuer = self.authority.issuer.as_deref().unwrap_or(self.authority.token_url.as_str());
        let server = self.server;
        let keys = match self.plan.grant {
            GrantKind::Code => format!("`mcp.{server}.oauth.client_id`"),
            GrantKind::ClientCredentials => {
                format!("`mcp.{server}.oauth.client_id` and `mcp.{server}.oauth.client_secret`")
            }
        };
        OauthError::new(
            OauthReason::NeedsClientRegistration,
            format!("the authorization server `{}` {why}", short(issuer)),
            format!("register a client there by hand, then set {keys}"),
        )
    }
}

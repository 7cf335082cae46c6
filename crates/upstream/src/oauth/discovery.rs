//! Finding out whom a server trusts: its own description, and that of its authorization server.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderValue, LOCATION};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolgate_host::Outbound;
use toolgate_host::outbound::Request;
use url::Url;

use super::challenge::Challenge;
use super::error::{OauthError, OauthReason};
use super::plan::OauthPlan;
use super::ways::Ways;
use crate::fault::short;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// How many redirects are followed, all of them within the same server.
const REDIRECTS: usize = 3;

/// Looks for whom a server trusts.
pub(super) struct Scout<'a> {
    pub(super) ways: &'a Ways,
    pub(super) server: &'a str,
    pub(super) url: &'a Url,
    pub(super) plan: &'a OauthPlan,
}

/// What a server says of itself (RFC 9728).
#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

/// What an authorization server says of itself (RFC 8414).
#[derive(Deserialize, Default)]
#[serde(default)]
struct ServerMetadata {
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Vec<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

/// Whom a server trusts, and for what.
#[derive(Debug)]
pub(super) struct Found {
    /// What tokens have to be for.
    pub(super) resource: String,
    /// What the server says one may have to be allowed.
    pub(super) scopes: Option<String>,
    pub(super) authority: Authority,
}

/// An authorization server whose description was checked.
#[derive(Debug, Clone)]
pub(super) struct Authority {
    /// Its name; none if only its endpoints are configured.
    pub(super) issuer: Option<String>,
    pub(super) auth_url: Option<Url>,
    pub(super) token_url: Url,
    pub(super) registration_url: Option<Url>,
    pub(super) revocation_url: Option<Url>,
    pub(super) scopes: Vec<String>,
    /// How clients may prove who they are; none if it does not say.
    pub(super) methods: Option<Vec<String>>,
    /// Whether its answers name it.
    pub(super) names_itself: bool,
    /// Whether a client may be the address of its own description.
    pub(super) knows_documents: bool,
}

impl Scout<'_> {
    /// Finds out whom the server trusts.
    pub(super) async fn discover(&self, challenge: &Challenge) -> Result<Found, OauthError> {
        let described = match self.resource(challenge).await {
            // What the person configured is enough.
            Err(_) if self.configured().is_some() => None,
            described => described?,
        };
        let resource = described.as_ref().map_or_else(|| canonical(self.url), |said| said.resource.clone());
        let scopes = described.as_ref().and_then(|said| said.scopes_supported.as_ref());
        let scopes = scopes.map(|scopes| scopes.join(" ")).filter(|scopes| !scopes.is_empty());
        let authority = match (self.configured(), described) {
            (Some(authority), _) => authority,
            (None, Some(said)) if !said.authorization_servers.is_empty() => {
                self.named(self.choice(&said.authorization_servers)?).await?
            }
            (None, _) => match &self.plan.issuer {
                Some(issuer) => self.named(issuer).await?,
                None => self.old().await?,
            },
        };
        Ok(Found { resource, scopes, authority })
    }

    /// The authorization server that a person configured: nothing has to be found out.
    fn configured(&self) -> Option<Authority> {
        Some(Authority {
            issuer: self.plan.issuer.clone(),
            auth_url: self.plan.auth_url.clone(),
            token_url: self.plan.token_url.clone()?,
            registration_url: None,
            revocation_url: None,
            scopes: Vec::new(),
            methods: None,
            names_itself: false,
            knows_documents: false,
        })
    }

    /// What the server says of itself, where it says so; none if it does not.
    async fn resource(&self, challenge: &Challenge) -> Result<Option<ResourceMetadata>, OauthError> {
        let mut places = Vec::new();
        if let Some(named) = &challenge.resource_metadata {
            let url = self.url.join(named);
            places.push(url.map_err(|_| {
                OauthError::untrusted(format!("`{}` names no address of its description", self.server))
            })?);
        }
        let path = self.url.path().trim_end_matches('/');
        places.push(at(self.url, &format!("{RESOURCE}{path}")));
        places.push(at(self.url, RESOURCE));
        places.dedup();
        for place in places {
            // This is the server's own word, wherever it says that it is kept.
            let said = fetch::<ResourceMetadata>(&self.ways.guarded, &place).await?;
            let Some(said) = said else { continue };
            if !covers(&said.resource, self.url) {
                return Err(OauthError::untrusted(format!(
                    "`{}` says that it is `{}`, but is at `{}`",
                    self.server,
                    short(&said.resource),
                    canonical(self.url),
                )));
            }
            return Ok(Some(said));
        }
        Ok(None)
    }

    /// Of the authorization servers that the server names, the one that is configured, or else the first.
    fn choice<'s>(&self, issuers: &'s [String]) -> Result<&'s str, OauthError> {
        let configured = self.plan.issuer.as_deref();
        let counts = |issuer: &&String| configured.is_none_or(|own| is_same_issuer(own, issuer));
        issuers.iter().find(counts).map(String::as_str).ok_or_else(|| {
            let named = issuers.first().map(|issuer| short(issuer)).unwrap_or_default();
            OauthError::new(
                OauthReason::Untrusted,
                format!(
                    "`{}` wants us to sign in by `{named}`, which is not the one that is configured",
                    self.server
                ),
                format!(
                    "ask who runs the server; if they moved there, set `mcp.{}.oauth.issuer` to it",
                    self.server
                ),
            )
        })
    }

    /// The authorization server of this name.
    async fn named(&self, issuer: &str) -> Result<Authority, OauthError> {
        let url = self.ways.permits(issuer)?;
        let path = url.path().trim_end_matches('/');
        let mut places = vec![at(&url, &format!("{OAUTH}{path}")), at(&url, &format!("{OPENID}{path}"))];
        if !path.is_empty() {
            places.push(at(&url, &format!("{path}{OPENID}")));
        }
        match self.described(&places, issuer).await? {
            Some(authority) => Ok(authority),
            None => Err(OauthError::new(
                OauthReason::Unavailable,
                format!("`{}` does not describe itself as an authorization server", short(issuer)),
                format!("set `mcp.{0}.oauth.auth_url` and `mcp.{0}.oauth.token_url`", self.server),
            )),
        }
    }

    /// The authorization server of a server that does not name one: itself, as the revision 2025-03-26 had it.
    async fn old(&self) -> Result<Authority, OauthError> {
        let origin = self.url.origin().ascii_serialization();
        let places = [at(self.url, OAUTH), at(self.url, OPENID)];
        if let Some(authority) = self.described(&places, &origin).await? {
            return Ok(authority);
        }
        Ok(Authority {
            issuer: Some(origin),
            auth_url: Some(at(self.url, "/authorize")),
            token_url: at(self.url, "/token"),
            registration_url: Some(at(self.url, "/register")),
            revocation_url: None,
            scopes: Vec::new(),
            methods: None,
            names_itself: false,
            knows_documents: false,
        })
    }

    /// The description of an authorization server at one of these places.
    async fn described(&self, places: &[Url], issuer: &str) -> Result<Option<Authority>, OauthError> {
        for place in places {
            if let Some(said) = fetch::<ServerMetadata>(self.ways.to(place.as_str()), place).await?
                && said.token_endpoint.is_some()
            {
                return self.checked(said, issuer).map(Some);
            }
        }
        Ok(None)
    }

    fn checked(&self, said: ServerMetadata, issuer: &str) -> Result<Authority, OauthError> {
        let Some(own) = said.issuer.filter(|own| is_same_issuer(own, issuer)) else {
            return Err(OauthError::untrusted(format!(
                "the authorization server at `{}` says that it is another",
                short(issuer)
            )));
        };
        // Without it a stolen code could be used by whoever stole it.
        let proves = said.code_challenge_methods_supported.as_ref();
        if said.authorization_endpoint.is_some()
            && !proves.is_some_and(|methods| methods.iter().any(|method| method == "S256"))
        {
            return Err(OauthError::new(
                OauthReason::Untrusted,
                format!(
                    "the authorization server `{}` does not say that it supports PKCE (`S256`)",
                    short(&own)
                ),
                format!(
                    "if it does, set `mcp.{0}.oauth.auth_url` and `mcp.{0}.oauth.token_url`",
                    self.server
                ),
            ));
        }
        let endpoint = |url: Option<String>| url.map(|url| self.ways.permits(&url)).transpose();
        let Some(token_url) = endpoint(said.token_endpoint)? else {
            return Err(OauthError::untrusted(format!("`{}` gives no tokens", short(&own))));
        };
        Ok(Authority {
            auth_url: endpoint(said.authorization_endpoint)?,
            token_url,
            registration_url: endpoint(said.registration_endpoint)?,
            revocation_url: endpoint(said.revocation_endpoint)?,
            scopes: said.scopes_supported,
            methods: said.token_endpoint_auth_methods_supported,
            names_itself: said.authorization_response_iss_parameter_supported,
            knows_documents: said.client_id_metadata_document_supported,
            issuer: Some(own),
        })
    }
}

/// A document, if there is one that can be read.
async fn fetch<T: DeserializeOwned>(outbound: &Outbound, place: &Url) -> Result<Option<T>, OauthError> {
    let mut url = place.clone();
    for _ in 0..=REDIRECTS {
        let answer = outbound.send(Request {
            method: Method::GET,
            url: url.to_string(),
            headers: vec![(ACCEPT, HeaderValue::from_static("application/json"))],
            body: Bytes::new(),
        });
        let answer = answer.await?;
        match answer.status {
            200 => return Ok(serde_json::from_slice(&answer.body).ok()),
            301 | 302 | 303 | 307 | 308 => {
                let next = answer.headers.get(LOCATION).and_then(|next| next.to_str().ok());
                let next = next.and_then(|next| url.join(next).ok());
                match next.filter(|next| next.origin() == place.origin()) {
                    Some(next) => url = next,
                    None => return Ok(None),
                }
            }
            status @ 500.. => {
                return Err(OauthError::unavailable(format!("`{url}` answered {status}")));
            }
            _ => return Ok(None),
        }
    }
    Ok(None)
}
/// The same server, another path, and nothing else.
fn at(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The name of a server as what tokens are for (RFC 8707).
fn canonical(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Who we are is no part of what the server is. An address with a host takes both.
    let bare = url.set_username("").and_then(|()| url.set_password(None));
    debug_assert!(bare.is_ok(), "only addresses with a host are planned");
    let text = url.to_string();
    if url.path() == "/" && url.query().is_none() { text.trim_end_matches('/').to_owned() } else { text }
}

/// Whether a resource is that server, or a part of its address that contains it.
fn covers(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (outer, inner) = (resource.path().trim_end_matches('/'), url.path().trim_end_matches('/'));
    let below = inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == url.origin()
        && below
        && resource.query().is_none_or(|query| url.query() == Some(query))
}

/// Issuers are the same only if they are written the same, but for the slash of an empty path.
pub(super) fn is_same_issuer(one: &str, other: &str) -> bool {
    let bare = |issuer: &str| match Url::parse(issuer) {
        Ok(url) if url.path() == "/" && url.query().is_none() => issuer.trim_end_matches('/').to_owned(),
        _ => issuer.to_owned(),
    };
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_the_server_it_is_or_contains() {
        #[track_caller]
        fn check(resource: &str, url: &str, expect: bool) {
            assert_eq!(covers(resource, &Url::parse(url).unwrap()), expect, "{resource} {url}");
        }
        check("https://h/mcp", "https://h/mcp", true);
        check("https://h/mcp/", "https://h/mcp", true);
        check("https://h", "https://h/mcp", true);
        check("https://h:443/", "https://h/a/b", true);
        check("https://h/a", "https://h/a/b", true);
        check("https://h/a", "https://h/ab", false);
        check("https://h/mcp/other", "https://h/mcp", false);
        check("https://evil/mcp", "https://h/mcp", false);
        check("http://h/mcp", "https://h/mcp", false);
        check("https://h/mcp?tenant=1", "https://h/mcp?tenant=1", true);
        check("https://h/mcp?tenant=1", "https://h/mcp?tenant=2", false);
        check("mcp", "https://h/mcp", false);
    }

    #[test]
    fn issuers_are_the_same_only_as_written() {
        #[track_caller]
        fn check(one: &str, other: &str, expect: bool) {
            assert_eq!(is_same_issuer(one, other), expect, "{one} {other}");
        }
        check("https://h", "https://h/", true);
        check("https://h/a", "https://h/a", true);
        check("https://h/a", "https://h/a/", false);
        check("https://h", "https://H", false);
        check("https://h", "https://h/a", false);
        check("https://h", "http://h", false);
    }

    #[test]
    fn the_name_of_a_server_holds_no_password_and_no_fragment() {
        #[track_caller]
        fn check(url: &str, expect: &str) {
            assert_eq!(canonical(&Url::parse(url).unwrap()), expect);
        }
        check("https://H:443/mcp#x", "https://h/mcp");
        check("https://me:pw@h/mcp?a=1", "https://h/mcp?a=1");
        check("https://h/", "https://h");
        check("https://h/mcp/", "https://h/mcp/");
    }
}

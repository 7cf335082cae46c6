//! What is meant by the key `oauth` of an upstream.

use toolgate_host::{Secret, outbound};
use url::Url;

use crate::config::{GrantKind, Oauth, OauthConfig, UpstreamConfig};
use crate::plan::BadConfig;

/// How we sign in to a server.
pub(crate) struct OauthPlan {
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<Secret>,
    pub(super) scope: Option<String>,
    /// The only authorization server that counts, as it names itself.
    pub(super) issuer: Option<String>,
    pub(super) auth_url: Option<Url>,
    pub(super) token_url: Option<Url>,
    pub(super) callback_port: Option<u16>,
    pub(super) grant: GrantKind,
    pub(crate) per_principal: bool,
}

impl OauthPlan {
    /// Reads the key. Without it, a server that wants to know who we are may be signed in to, unless a header already
    /// says who we are.
    pub(crate) fn new(
        name: &str,
        url: &Url,
        config: &UpstreamConfig,
        fill: impl Fn(&str, &str) -> Result<Secret, BadConfig>,
    ) -> Result<Option<Self>, BadConfig> {
        let key = format!("mcp.{name}.oauth");
        let says_who = config.headers.keys().any(|key| key.eq_ignore_ascii_case("authorization"));
        let table = match &config.oauth {
            Some(Oauth::Off) => return Ok(None),
            None if says_who => return Ok(None),
            Some(Oauth::On | Oauth::With(_)) if says_who => {
                let hint = "keep that, or the header";
                return Err(BadConfig::new(key, "contradicts the `Authorization` header", hint));
            }
            // Who listens on the way would have the token.
            None if !outbound::is_allowed(url.as_str()) => return Ok(None),
            Some(Oauth::On | Oauth::With(_)) if !outbound::is_allowed(url.as_str()) => {
                let hint = format!("write `mcp.{name}.url` with `https`; `http` is only for this machine");
                return Err(BadConfig::new(key, "needs an address with `https`", hint));
            }
            None | Some(Oauth::On) => OauthConfig::default(),
            Some(Oauth::With(table)) => (**table).clone(),
        };
        check(&key, &table)?;
        let filled = |key: &str, text: &Option<String>| {
            text.as_ref().map(|text| fill(&format!("oauth.{key}"), text)).transpose()
        };
        Ok(Some(Self {
            client_id: filled("client_id", &table.client_id)?.map(|id| id.expose().to_owned()),
            client_secret: filled("client_secret", &table.client_secret)?,
            scope: table.scope.filter(|scope| !scope.trim().is_empty()),
            auth_url: address(name, "auth_url", table.auth_url.as_deref())?,
            token_url: address(name, "token_url", table.token_url.as_deref())?,
            // Issuers are compared as they are written.
            issuer: address(name, "issuer", table.issuer.as_deref())?.and(table.issuer),
            callback_port: table.callback_port,
            grant: table.grant,
            per_principal: table.per_principal,
        }))
    }

    /// Whether the client id is the address of a document that describes the client.
    pub(super) fn document(&self) -> Option<&str> {
        let id = self.client_id.as_deref()?;
        let url = Url::parse(id).ok().filter(|url| url.scheme() == "https" && url.path() != "/");
        url.map(|_| id)
    }

    /// The client that only the authorization server which knows it may see; one that a document describes may be seen
    /// by all.
    pub(super) fn own_client(&self) -> Option<&str> {
        let is_open = self.document().is_some() && self.client_secret.is_none();
        self.client_id.as_deref().filter(|_| !is_open)
    }
}

/// What goes together.
fn check(key: &str, table: &OauthConfig) -> Result<(), BadConfig> {
    let lacks = |what: &str, hint: &str| Err(BadConfig::new(key, format!("has no `{what}`"), hint));
    match table.grant {
        GrantKind::ClientCredentials if table.client_id.is_none() => {
            lacks("client_id", "a machine has to be known to the authorization server")
        }
        GrantKind::ClientCredentials if table.client_secret.is_none() => {
            lacks("client_secret", "store it with `toolgate secret set`, and refer to it as `{secret:NAME}`")
        }
        GrantKind::ClientCredentials if table.per_principal => Err(BadConfig::new(
            key,
            "has `per_principal` for a machine",
            "remove it: a machine is one principal to the server",
        )),
        GrantKind::Code if table.auth_url.is_some() && table.token_url.is_none() => {
            lacks("token_url", "`auth_url` and `token_url` go together")
        }
        GrantKind::Code if table.auth_url.is_none() && table.token_url.is_some() => {
            lacks("auth_url", "`auth_url` and `token_url` go together")
        }
        GrantKind::Code if table.auth_url.is_some() && table.client_id.is_none() => {
            lacks("client_id", "where nothing is found out, nothing can be registered either")
        }
        GrantKind::Code if table.client_secret.is_some() && table.client_id.is_none() => {
            lacks("client_id", "a `client_secret` belongs to a `client_id`")
        }
        GrantKind::ClientCredentials | GrantKind::Code => Ok(()),
    }
}

fn address(name: &str, key: &str, text: Option<&str>) -> Result<Option<Url>, BadConfig> {
    let Some(text) = text else { return Ok(None) };
    match Url::parse(text).ok().filter(|_| outbound::is_allowed(text)) {
        Some(url) => Ok(Some(url)),
        None => Err(BadConfig::new(
            format!("mcp.{name}.oauth.{key}"),
            "is no address with `https`",
            "write it as `https://HOST/PATH`; `http` is only for this machine",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Plan;

    #[test]
    fn what_does_not_go_together_is_refused_with_a_hint() {
        #[track_caller]
        fn check(table: serde_json::Value, expect: &str) {
            let config: UpstreamConfig = serde_json::from_value(table).unwrap();
            let made = Plan::new("a", &config, |text| Ok(Secret::new(text.to_owned())));
            assert_eq!(made.err().map_or_else(|| "fine".into(), |error| error.to_string()), expect);
        }
        let oauth = |table: serde_json::Value| json!({"url": "https://h/mcp", "oauth": table});
        check(oauth(json!({"client_id": "x", "client_secret": "y"})), "fine");
        check(oauth(json!({"client_secret": "y"})), "`mcp.a.oauth` has no `client_id`");
        check(oauth(json!({"auth_url": "https://l/a"})), "`mcp.a.oauth` has no `token_url`");
        check(oauth(json!({"token_url": "https://l/a"})), "`mcp.a.oauth` has no `auth_url`");
        let both = json!({"auth_url": "https://l/a", "token_url": "https://l/t"});
        check(oauth(both), "`mcp.a.oauth` has no `client_id`");
        let plain = json!({"client_id": "x", "auth_url": "http://l/a", "token_url": "https://l/t"});
        check(oauth(plain), "`mcp.a.oauth.auth_url` is no address with `https`");
        check(oauth(json!({"issuer": "https://l"})), "fine");
        check(oauth(json!({"issuer": "l"})), "`mcp.a.oauth.issuer` is no address with `https`");
        let machine = json!({"grant": "client_credentials", "client_id": "x"});
        check(oauth(machine), "`mcp.a.oauth` has no `client_secret`");
        let each = json!({"grant": "client_credentials", "client_id": "x", "client_secret": "y", "per_principal": true});
        check(oauth(each), "`mcp.a.oauth` has `per_principal` for a machine");
        check(json!({"url": "http://h/mcp"}), "fine");
        check(json!({"url": "http://h/mcp", "oauth": true}), "`mcp.a.oauth` needs an address with `https`");
        let header = json!({"url": "https://h", "oauth": true, "headers": {"authorization": "Basic x"}});
        check(header, "`mcp.a.oauth` contradicts the `Authorization` header");
    }
}

//! Through what addresses are asked: the guard is for what servers name, not for what a person configured.

use toolgate_host::outbound::{Answer, Request, Route};
use toolgate_host::{Outbound, OutboundError};
use url::{Origin, Url};

use super::plan::OauthPlan;

/// The ways to all that has to be asked for a server.
pub(super) struct Ways {
    /// For what the server, or an authorization server, names.
    pub(super) guarded: Outbound,
    /// For what a person configured.
    pub(super) plain: Outbound,
    token_url: Option<Url>,
    /// Where the configured authorization server is. What it names elsewhere is as strange as what others name.
    issuer: Option<Origin>,
}

impl Ways {
    pub(super) fn new(server: &Url, plan: &OauthPlan, route: Route) -> Self {
        let issuer = plan.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
        Self {
            guarded: Outbound::guarded(server).by(route.clone()),
            plain: Outbound::default().by(route),
            token_url: plan.token_url.clone(),
            issuer: issuer.map(|issuer| issuer.origin()),
        }
    }

    /// Whether an address of an authorization server may be asked, as far as it can be told without asking.
    pub(super) fn permits(&self, url: &str) -> Result<Url, OutboundError> {
        self.to(url).permits(url)
    }

    /// Asks an authorization server.
    pub(super) async fn send(&self, request: Request) -> Result<Answer, OutboundError> {
        self.to(&request.url).send(request).await
    }

    /// What leads to an address of an authorization server.
    pub(super) fn to(&self, url: &str) -> &Outbound {
        let address = Url::parse(url).ok();
        let is_own = address.is_some_and(|address| {
            Some(&address) == self.token_url.as_ref() || Some(address.origin()) == self.issuer
        });
        if is_own { &self.plain } else { &self.guarded }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_host::Secret;

    use super::*;
    use crate::Plan;
    use crate::plan::Reach;

    /// The ways of a server that is far away.
    fn ways(oauth: &serde_json::Value) -> Ways {
        let config = json!({"url": "https://mcp.example.com/mcp", "oauth": oauth});
        let config = serde_json::from_value(config).unwrap();
        let plan = Plan::new("a", &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
        let Reach::Address(address) = plan.reach else { panic!("it is an address") };
        Ways::new(&address.url, &address.oauth.unwrap(), Route::default())
    }

    #[test]
    fn the_guard_lets_only_what_a_person_configured_pass() {
        #[track_caller]
        fn check(oauth: serde_json::Value, url: &str, expect: bool) {
            let ways = ways(&oauth);
            let is_plain = std::ptr::eq(ways.to(url), &raw const ways.plain);
            assert_eq!(is_plain, expect, "{oauth} {url}");
        }
        let near = || json!({"issuer": "https://10.0.0.9:8443/realm"});
        check(near(), "https://10.0.0.9:8443/realm/.well-known/openid-configuration", true);
        check(near(), "https://10.0.0.9:8443/token", true);
        check(near(), "https://10.0.0.9/token", false);
        check(near(), "https://10.0.0.10:8443/token", false);
        check(near(), "http://10.0.0.9:8443/token", false);
        check(near(), "https://10.0.0.9:8443@127.0.0.1/token", false);
        // Another port of the same name would resolve to the same machine, so it has to pass the guard.
        let named = || json!({"issuer": "https://login.internal"});
        check(named(), "https://login.internal:443/token", true);
        check(named(), "https://LOGIN.internal/token", true);
        check(named(), "https://login.internal:9/token", false);
        check(named(), "https://login.internal.example.com/token", false);
        let table =
            json!({"client_id": "x", "auth_url": "https://10.0.0.9/a", "token_url": "https://10.0.0.9/t"});
        check(table.clone(), "https://10.0.0.9/t", true);
        check(table, "https://10.0.0.9/other", false);
        check(json!({}), "https://10.0.0.9/t", false);
        check(json!({}), "no address", false);
    }

    #[test]
    fn what_is_not_configured_may_not_be_nearer_than_the_server() {
        let ways = ways(&json!({"issuer": "http://127.0.0.1:8080"}));
        assert!(ways.permits("http://127.0.0.1:8080/token").is_ok());
        for near in ["http://127.0.0.1:8081/token", "http://localhost:8080/token", "https://10.0.0.9/token"] {
            assert!(matches!(ways.permits(near), Err(OutboundError::TooNear { .. })), "{near}");
        }
    }
}

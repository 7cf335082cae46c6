//! Authorization servers that are nearer to this machine than the server: only those that a person configured are asked.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_upstream::{Authorizer, Holder, OauthError, OauthReason};

use super::{Realm, authorizer, sign_in};
use crate::rig::with;
use crate::tls::{Proxy, authority, behind_tls, proxy};
use crate::web::Web;

/// Where the server is, as far as anybody knows: not on this machine.
const FAR: &str = "https://192.0.2.1";

/// A server far away, and an authorization server here.
struct Apart {
    realm: Realm,
    web: Web,
    proxy: Proxy,
}

impl Apart {
    async fn start(behaviour: &str) -> Self {
        let realm = Realm::start(behaviour).await;
        realm.know("known", Some("sesame"));
        let web = realm.web_as("legacy", FAR).await;
        let proxy = proxy(behind_tls(&web).await).await;
        Self { realm, web, proxy }
    }

    fn authorizer(&self, oauth: Value) -> Arc<Authorizer> {
        let mut table = json!({"client_id": "known", "client_secret": "sesame"});
        table.as_object_mut().unwrap().extend(oauth.as_object().unwrap().clone());
        let more = json!({"url": format!("{FAR}/mcp"), "ca_file": authority(), "oauth": table});
        // It is not for this machine.
        let variables = [("HTTPS_PROXY", &*self.proxy.address)];
        authorizer(with(self.web.table(), more), Arc::default(), self.realm.clock.clone(), &variables)
    }

    /// Signs in by the authorization server that a person configured.
    async fn sign_in(&self) -> Result<(), OauthError> {
        sign_in(&self.authorizer(json!({"issuer": self.realm.issuer})), Holder::Shared).await
    }
}

#[track_caller]
fn check_too_near(outcome: Result<(), OauthError>) {
    let error = outcome.unwrap_err();
    assert_eq!(error.reason(), OauthReason::Untrusted, "{error}");
    assert!(error.to_string().contains("nearer to this machine"), "{error}");
}

#[tokio::test]
async fn an_authorization_server_that_a_person_configured_may_be_nearer_than_the_server() {
    let apart = Apart::start("").await;
    for issuer in [apart.realm.issuer.clone(), apart.realm.issuer.replace("127.0.0.1", "localhost")] {
        // It is known by that name.
        let at = |path: &str| format!("{issuer}{path}");
        *apart.realm.metadata.lock().unwrap() = json!({
            "issuer": issuer, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"), "revocation_endpoint": at("/revoke"),
        });
        apart.realm.behave("undescribed no-iss");
        apart.realm.metadata.lock().unwrap()["authorization_response_iss_parameter_supported"] = false.into();
        let person = apart.authorizer(json!({"issuer": issuer}));
        sign_in(&person, Holder::Shared).await.unwrap();
        apart.realm.later(2 * 3600);
        assert!(person.authorization(Holder::Shared).await.unwrap().is_some(), "{issuer}");
        let out = person.logout(Holder::Shared).await.unwrap();
        assert_eq!(out.revoked, Some(true), "{issuer}");
    }
    assert_eq!(apart.realm.grants("refresh_token").len(), 2);
}

#[tokio::test]
async fn one_that_only_the_server_names_may_not() {
    let apart = Apart::start("").await;
    check_too_near(sign_in(&apart.authorizer(json!({})), Holder::Shared).await);
    assert!(apart.realm.asked("/.well-known/oauth-authorization-server").is_empty());
    // Nor may a server say that its own description is at the one that is configured.
    apart.realm.behave("kept-elsewhere");
    check_too_near(apart.sign_in().await);
    assert!(apart.realm.asked("/.well-known/oauth-protected-resource/mcp").is_empty());
}

#[tokio::test]
async fn what_a_configured_one_names_elsewhere_may_not_be_nearer_either() {
    let apart = Apart::start("").await;
    let other = Realm::start("").await;
    apart.sign_in().await.unwrap();
    for key in ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] {
        for elsewhere in [&other.issuer, &other.issuer.replace("127.0.0.1", "localhost")] {
            *apart.realm.metadata.lock().unwrap() = json!({key: format!("{elsewhere}/token")});
            check_too_near(apart.sign_in().await);
        }
    }
    // Nor does a redirect lead there.
    *apart.realm.metadata.lock().unwrap() = json!({});
    apart.realm.name(&[&apart.realm, &other]);
    apart.realm.behave("description-leads-away");
    assert_eq!(apart.sign_in().await.unwrap_err().reason(), OauthReason::Unavailable);
    for path in ["/token", "/.well-known/oauth-authorization-server", "/register"] {
        assert!(other.asked(path).is_empty(), "{path}");
    }
}

//! Being lied to: descriptions, answers and tokens that are not to be trusted.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::{Holder, OauthReason};

use super::{Guarded, Realm, sign_in};

/// Tries to sign in where the server behaves so; says why it was refused.
async fn refused(behaviour: &str, metadata: Value) -> (OauthReason, String) {
    let realm = Realm::start(behaviour).await;
    *realm.metadata.lock().unwrap() = metadata;
    let web = realm.web("legacy").await;
    let guarded = Guarded::over(realm, web, json!({}), Arc::default());
    let login = sign_in(&guarded.authorizer, Holder::Shared);
    let error = tokio::time::timeout(std::time::Duration::from_secs(60), login).await.unwrap().unwrap_err();
    assert!(!error.hint().is_empty());
    assert_eq!(guarded.authorizer.standing(Holder::Shared).await.unwrap(), None);
    guarded.rig.upstream.stop().await;
    (error.reason(), error.to_string())
}

async fn check(behaviour: &str, metadata: Value, expect: &str) {
    let (reason, message) = refused(behaviour, metadata.clone()).await;
    assert_eq!(reason, OauthReason::Untrusted, "{behaviour} {metadata}: {message}");
    assert!(message.contains(expect), "{behaviour} {metadata}: {message}");
}

#[tokio::test]
async fn descriptions_that_lie_are_refused() {
    check("other-resource", json!({}), "says that it is").await;
    check("huge", json!({}), "more than").await;
    check("", json!({"issuer": "http://127.0.0.1:1"}), "says that it is another").await;
    check("", json!({"issuer": null}), "says that it is another").await;
    check("", json!({"code_challenge_methods_supported": null}), "PKCE").await;
    check("", json!({"code_challenge_methods_supported": ["plain"]}), "PKCE").await;
    check("", json!({"authorization_endpoint": "javascript:alert(1)"}), "no address").await;
    check("", json!({"authorization_endpoint": "file:///etc/passwd"}), "no address").await;
    check("", json!({"token_endpoint": "http://login.example.com/token"}), "no address").await;
    check("", json!({"token_endpoint": "https://169.254.169.254/token"}), "nearer to this machine").await;
    check("", json!({"registration_endpoint": "https://[fe80::1]/"}), "nearer to this machine").await;
    check("", json!({"revocation_endpoint": "ftp://127.0.0.1/"}), "no address").await;
}

#[tokio::test]
async fn answers_that_lie_are_refused() {
    check("wrong-iss", json!({}), "was not asked").await;
    // Even one that does not say that it names itself is believed if it does.
    check("wrong-iss", json!({"authorization_response_iss_parameter_supported": false}), "was not asked")
        .await;
    check("no-iss", json!({}), "does not say who gave it").await;
    check("odd-token", json!({}), "no bearer token").await;
}

#[tokio::test]
async fn who_says_no_is_heard() {
    let (reason, message) = refused("says-no", json!({})).await;
    assert_eq!(reason, OauthReason::Denied, "{message}");
}

#[tokio::test]
async fn codes_and_tokens_do_not_follow_redirects() {
    let (_, message) = refused("token-leads-away", json!({})).await;
    assert!(message.contains("307"), "{message}");

    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.behave("leads-away");
    guarded.rig.call(client_legacy(), "fake_golden", json!({}), None).await.failed();
    assert!(guarded.realm.asked("/elsewhere").is_empty());
    guarded.rig.upstream.stop().await;
}

//! Secrets of configured clients that change: what was given to the client stays, and comes with the new one.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_core::{Kind, Principal};
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::{Holder, State, TokenStore as _};

use super::realm::Form;
use super::{Guarded, Realm, oauth, sign_in};

const KEY: &str = "`mcp.fake.oauth.client_secret`";

fn with_secret(secret: &str) -> Value {
    oauth(json!({"client_id": "known", "client_secret": secret}))
}

/// One who is signed in by a client with the first secret, where the second counts by now.
async fn rotated() -> Guarded {
    let realm = Realm::start("").await;
    realm.know("known", Some("first"));
    let web = realm.web("legacy").await;
    let guarded = Guarded::over(realm, web, with_secret("first"), Arc::default());
    guarded.sign_in().await;
    guarded.realm.know("known", Some("second"));
    guarded
}

#[track_caller]
fn check_shown(form: &Form, secret: &str) {
    let basic = format!("Basic {}", STANDARD.encode(format!("known:{secret}")));
    assert_eq!(form["authorization"], basic);
}

#[tokio::test]
async fn a_secret_that_was_changed_counts_for_what_was_given_before() {
    let before = rotated().await;
    before.rig.upstream.stop().await;
    let guarded = Guarded::over(before.realm, before.web, with_secret("second"), before.tokens);
    guarded.realm.later(2 * 3600);
    for round in 1..=2 {
        guarded.echo().await;
        let forms = guarded.realm.grants("refresh_token");
        assert_eq!(forms.len(), round);
        forms.iter().for_each(|form| check_shown(form, "second"));
        guarded.realm.later(2 * 3600);
    }
    assert_eq!(guarded.realm.asked("/authorize").len(), 1);
    let kept = guarded.tokens.load("fake").await.unwrap().unwrap();
    assert!(kept.expose().contains("second") && !kept.expose().contains("first"));
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn what_is_given_back_comes_with_the_secret_of_now() {
    let guarded = rotated().await;
    let out = guarded.elsewhere(with_secret("second")).logout(Holder::Shared).await.unwrap();
    assert_eq!((out.was_in, out.revoked), (true, Some(true)));
    let forms = guarded.realm.asked("/revoke");
    assert_eq!(forms.len(), 2);
    forms.iter().for_each(|form| check_shown(form, "second"));
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_secret_that_is_wrong_costs_nobody_their_sign_in() {
    let guarded = rotated().await;
    guarded.realm.later(2 * 3600);
    for _ in 0..3 {
        let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
        assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
        assert!(error.next_step().unwrap().contains(KEY), "{error:?}");
    }
    guarded.is(State::NeedsAuth).await;
    let status = guarded.rig.status();
    assert!(status.error.unwrap().contains("invalid_client"));
    assert!(status.hint.unwrap().contains(KEY));
    assert!(guarded.authorizer.standing(Holder::Shared).await.unwrap().is_some());
    // Who comes too often with a wrong secret may be shut out.
    assert_eq!(guarded.realm.grants("refresh_token").len(), 1);

    guarded.realm.know("known", Some("first"));
    guarded.realm.later(2);
    guarded.is(State::Connected).await;
    guarded.echo().await;
    assert_eq!(guarded.realm.asked("/authorize").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_sign_in_that_fails_of_the_secret_names_its_key() {
    let realm = Realm::start("").await;
    realm.know("known", Some("second"));
    let web = realm.web("legacy").await;
    let guarded = Guarded::over(realm, web, with_secret("first"), Arc::default());
    let error = sign_in(&guarded.authorizer, Holder::Shared).await.unwrap_err();
    assert!(error.hint().contains(KEY), "{}", error.hint());
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_client_that_was_forgotten_registers_itself_anew() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.know("client-0", Some("another"));
    guarded.realm.later(2 * 3600);
    let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
    assert_eq!(error.next_step(), Some("run `toolgate mcp auth fake`"));
    assert_eq!(guarded.authorizer.standing(Holder::Shared).await.unwrap(), None);
    sign_in(&guarded.authorizer, Holder::Shared).await.unwrap();
    assert_eq!(guarded.realm.asked("/register").len(), 2);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_new_secret_is_not_shown_to_whom_the_client_belonged_before() {
    let each =
        |secret: &str| oauth(json!({"client_id": "known", "client_secret": secret, "per_principal": true}));
    let (realm, other) = (Realm::start("").await, Realm::start("").await);
    realm.know("known", Some("first"));
    other.know("known", Some("second"));
    let web = realm.web("legacy").await;
    let guarded = Guarded::over(realm, web, each("first"), Arc::default());
    let ann = || guarded.authorizer.holder(&Principal::named("ann").id);
    sign_in(&guarded.authorizer, ann()).await.unwrap();
    guarded.realm.know("known", Some("third"));
    let moved = guarded.elsewhere(each("second"));
    guarded.realm.later(2 * 3600);
    // The server moves to another, and a person says that this is right; her grant is still of the first.
    guarded.authorizer.logout(Holder::Shared).await.unwrap();
    guarded.realm.name(&[&other]);
    sign_in(&moved, Holder::Shared).await.unwrap();
    assert!(moved.authorization(ann()).await.unwrap().is_none());
    assert_eq!(moved.standing(ann()).await.unwrap(), None);
    sign_in(&moved, ann()).await.unwrap();
    assert!(moved.authorization(ann()).await.unwrap().is_some());
    let forms = guarded.realm.grants("refresh_token");
    assert_eq!(forms.len(), 1);
    forms.iter().for_each(|form| check_shown(form, "first"));
    guarded.rig.upstream.stop().await;
}

//! Servers that send us to another authorization server: it does not get to see the client that is configured.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Kind, Principal};
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::{Holder, OauthError, OauthReason, State};

use super::{Guarded, Realm, browse, oauth, sign_in};

fn person() -> Value {
    json!({"client_id": "known", "client_secret": "sesame"})
}

fn machine() -> Value {
    json!({"client_id": "known", "client_secret": "sesame", "grant": "client_credentials"})
}

fn with_issuer(mut table: Value, realm: &Realm) -> Value {
    table["issuer"] = realm.issuer.as_str().into();
    table
}

/// Two authorization servers that would take the client; the first has a server that trusts it.
async fn realms() -> (Realm, Realm) {
    let realms = (Realm::start("").await, Realm::start("").await);
    for realm in [&realms.0, &realms.1] {
        realm.know("known", Some("sesame"));
    }
    realms
}

async fn guarded(realm: &Realm, table: Value) -> Guarded {
    Guarded::over(realm.clone(), realm.web("legacy").await, oauth(table), Arc::default())
}

/// Nobody but the authorization server of this realm was shown the client.
#[track_caller]
fn check_unseen(realm: &Realm, other: &Realm) {
    assert!(other.asked("/token").is_empty() && other.asked("/authorize").is_empty());
    let seen = realm.seen.lock().unwrap();
    assert!(seen.iter().flatten().all(|header| header.starts_with("Bearer ")), "{seen:?}");
}

#[track_caller]
fn check_untrusted<T>(outcome: Result<T, OauthError>) {
    let error = outcome.err().expect("it is refused");
    assert_eq!(error.reason(), OauthReason::Untrusted, "{error}");
    assert!(error.hint().contains("`mcp.fake.oauth.issuer`"), "{}", error.hint());
}

/// Calls are refused, and its status says what to do.
async fn check_refuses(guarded: &Guarded) {
    let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
    assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
    check_says(guarded).await;
}

async fn check_says(guarded: &Guarded) {
    guarded.is(State::NeedsAuth).await;
    let keys = ["`mcp.fake.oauth.issuer`", "`toolgate mcp logout fake`"];
    let says = |hint: String| keys.iter().all(|key| hint.contains(key));
    guarded.rig.until("it says what to do", |rig| rig.status().hint.is_some_and(says)).await;
}

#[tokio::test]
async fn a_machine_shows_its_secret_only_to_whom_it_was_first_shown() {
    let (realm, other) = realms().await;
    let first = guarded(&realm, machine()).await;
    first.is(State::Connected).await;
    realm.name(&[&other]);
    // While the token counts nobody is asked for another.
    first.echo().await;
    realm.later(2 * 3600);
    check_refuses(&first).await;
    realm.forget(true);
    check_refuses(&first).await;
    // One that names nobody any more would be its own.
    realm.behave("undescribed");
    check_refuses(&first).await;
    first.rig.upstream.stop().await;
    realm.behave("");

    let again = Guarded::over(realm.clone(), first.web, oauth(machine()), first.tokens);
    check_says(&again).await;
    check_unseen(&realm, &other);
    realm.name(&[]);
    again.is(State::Connected).await;

    // A person may forget whom it belongs to.
    realm.name(&[&other]);
    realm.forget(true);
    again.authorizer.logout(Holder::Shared).await.unwrap();
    again.rig.until("it goes there", |_| !other.grants("client_credentials").is_empty()).await;
    again.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_person_is_not_sent_to_another_authorization_server_with_the_same_client() {
    let (realm, other) = realms().await;
    let guarded = guarded(&realm, person()).await;
    guarded.sign_in().await;
    realm.name(&[&other]);
    check_untrusted(guarded.authorizer.begin(Holder::Shared).await);
    // Neither when the grant is gone, nor in another process.
    realm.forget(true);
    // What keeps people from signing in is looked for once a minute.
    realm.later(61);
    check_refuses(&guarded).await;
    check_untrusted(guarded.elsewhere(oauth(person())).begin(Holder::Shared).await);
    check_unseen(&realm, &other);

    // Another client may belong to another.
    other.know("second", None);
    let second = guarded.elsewhere(oauth(json!({"client_id": "second"})));
    sign_in(&second, Holder::Shared).await.unwrap();
    assert_eq!(other.grants("authorization_code").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn the_client_of_all_principals_belongs_to_one_authorization_server() {
    let (realm, other) = realms().await;
    let table = json!({"client_id": "known", "client_secret": "sesame", "per_principal": true});
    let guarded = guarded(&realm, table).await;
    let of = |name: &'static str| guarded.authorizer.holder(&Principal::named(name).id);
    sign_in(&guarded.authorizer, of("ann")).await.unwrap();
    realm.name(&[&other]);
    check_untrusted(guarded.authorizer.begin(of("ben")).await);
    check_untrusted(guarded.authorizer.begin(Holder::Shared).await);
    // Who signs out alone forgets nothing for the others.
    guarded.authorizer.logout(of("ann")).await.unwrap();
    check_untrusted(guarded.authorizer.begin(of("ann")).await);
    guarded.authorizer.logout(Holder::Shared).await.unwrap();
    assert!(guarded.authorizer.begin(of("ann")).await.is_ok());
    check_unseen(&realm, &other);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_sign_in_that_is_overtaken_does_not_end_elsewhere() {
    let (realm, other) = realms().await;
    let guarded = guarded(&realm, person()).await;
    realm.name(&[&other]);
    let late = guarded.authorizer.begin(Holder::Shared).await.unwrap();
    realm.name(&[]);
    sign_in(&guarded.elsewhere(oauth(person())), Holder::Shared).await.unwrap();
    let (done, _page) = tokio::join!(late.wait(), browse(&late));
    check_untrusted(done);
    assert!(other.asked("/token").is_empty());
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn an_authorization_server_that_is_configured_is_the_only_one() {
    let (realm, other) = realms().await;
    for table in [person(), machine(), json!({})] {
        let guarded = guarded(&realm, with_issuer(table.clone(), &realm)).await;
        realm.name(&[&other]);
        guarded.is(State::NeedsAuth).await;
        if guarded.authorizer.needs_person() {
            check_untrusted(guarded.authorizer.begin(Holder::Shared).await);
        } else {
            let hint = guarded.rig.status().hint.unwrap();
            assert!(hint.contains("`mcp.fake.oauth.issuer`"), "{hint}");
        }
        check_unseen(&realm, &other);
        assert!(other.asked("/register").is_empty());

        // It is found among others, and where nobody is named.
        for (behaviour, named) in [("", &[&other, &realm][..]), ("undescribed", &[])] {
            realm.behave(behaviour);
            realm.name(named);
            match guarded.authorizer.needs_person() {
                true => sign_in(&guarded.authorizer, Holder::Shared).await.unwrap(),
                false => guarded.is(State::Connected).await,
            }
        }
        realm.behave("");
        // What another gave is not used.
        let moved = guarded.elsewhere(oauth(with_issuer(table, &other)));
        assert_eq!(moved.standing(Holder::Shared).await.unwrap(), None);
        check_unseen(&realm, &other);
        guarded.rig.upstream.stop().await;
    }
}

//! Machines that sign in by themselves.

use serde_json::json;
use toolgate_core::{Kind, Outcome};
use toolgate_testkit::{Driven, Expect as _, client_legacy};
use toolgate_upstream::{Holder, State};

use super::{Guarded, oauth};

fn machine() -> serde_json::Value {
    oauth(
        json!({"grant": "client_credentials", "client_id": "robot", "client_secret": "sesame", "scope": "work"}),
    )
}

#[tokio::test]
async fn a_machine_signs_in_by_itself_and_again_when_it_has_to() {
    for behaviour in ["legacy", "modern"] {
        let realm = super::Realm::start("").await;
        realm.know("robot", Some("sesame"));
        let web = realm.web(behaviour).await;
        let guarded = Guarded::over(realm, web, machine(), std::sync::Arc::default());
        guarded.is(State::Connected).await;
        guarded.echo().await;
        let form = &guarded.realm.grants("client_credentials")[0];
        assert_eq!((&*form["scope"], &*form["resource"]), ("work", &*guarded.web.url));
        guarded.realm.forget(true);
        guarded.echo().await;
        guarded.realm.later(2 * 3600);
        guarded.echo().await;
        assert_eq!(guarded.realm.grants("client_credentials").len(), 3, "{behaviour}");
        assert!(guarded.realm.asked("/authorize").is_empty() && guarded.realm.asked("/register").is_empty());
        assert!(guarded.authorizer.begin(Holder::Shared).await.is_err());
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_machine_that_is_not_known_is_told_so() {
    let guarded = Guarded::start("legacy", machine()).await;
    guarded.is(State::NeedsAuth).await;
    let status = guarded.rig.status();
    assert!(status.error.unwrap().contains("invalid_client"));
    assert!(status.hint.unwrap().contains("`mcp.fake.oauth.client_secret`"));
    guarded.realm.know("robot", Some("sesame"));
    guarded.is(State::Connected).await;
    guarded.rig.upstream.stop().await;
}

/// A machine whose server wants more to be allowed for one of its tools.
async fn stepping(behaviour: &str, realm: &str) -> Guarded {
    let started = super::Realm::start(&format!("step-up {realm}")).await;
    started.know("robot", Some("sesame"));
    let web = started.web(behaviour).await;
    let guarded = Guarded::over(started, web, machine(), std::sync::Arc::default());
    guarded.is(State::Connected).await;
    guarded
}

async fn golden(guarded: &Guarded) -> Driven {
    guarded.rig.call(client_legacy(), "fake_golden", json!({}), None).await
}

fn scopes(guarded: &Guarded) -> Vec<String> {
    guarded.realm.grants("client_credentials").iter().map(|form| form["scope"].clone()).collect()
}

/// The call fails, and its hint names what a person can do; nobody is sent to sign in.
#[track_caller]
fn check_refused(driven: Driven) {
    let error = driven.failed();
    assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
    let hint = error.next_step().unwrap();
    assert!(hint.contains("`mcp.fake.oauth.scope`") && !hint.contains("mcp auth"), "{hint}");
}

#[tokio::test]
async fn a_machine_gets_more_to_be_allowed_by_itself() {
    for behaviour in ["legacy", "modern"] {
        let guarded = stepping(behaviour, "").await;
        let calls = futures_util::future::join_all((0..8).map(|_| golden(&guarded))).await;
        assert!(calls.iter().all(|driven| matches!(driven.outcome, Outcome::Complete(_))), "{behaviour}");
        assert_eq!(scopes(&guarded), ["work", "work golden"], "{behaviour}");
        // The next token allows it too.
        guarded.realm.later(2 * 3600);
        guarded.echo().await;
        assert!(matches!(golden(&guarded).await.outcome, Outcome::Complete(_)), "{behaviour}");
        assert_eq!(scopes(&guarded)[2..], ["work golden"], "{behaviour}");
        assert_eq!(guarded.rig.status().hint, None);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_never_has_enough_is_given_more_only_once() {
    let guarded = stepping("legacy", "insatiable").await;
    for _ in 0..3 {
        check_refused(golden(&guarded).await);
        guarded.echo().await;
    }
    assert_eq!(scopes(&guarded), ["work", "work golden"]);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_machine_that_is_not_allowed_more_goes_on_with_what_it_is_allowed() {
    for (realm, asked) in
        [("stingy", vec!["work", "work golden", "work"]), ("sly", vec!["work", "work golden"])]
    {
        let guarded = stepping("legacy", realm).await;
        for _ in 0..3 {
            check_refused(golden(&guarded).await);
            guarded.echo().await;
        }
        assert_eq!(scopes(&guarded), asked, "{realm}");
        let hint = guarded.rig.status().hint.unwrap();
        assert!(hint.contains("`golden`") && hint.contains("`mcp.fake.oauth.scope`"), "{hint}");
        guarded.realm.later(2 * 3600);
        guarded.echo().await;
        // Whoever runs the authorization server may allow it later.
        guarded.realm.behave("step-up");
        guarded.realm.later(2 * 3600);
        assert!(matches!(golden(&guarded).await.outcome, Outcome::Complete(_)), "{realm}");
        assert_eq!(guarded.rig.status().hint, None);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn more_that_could_not_be_asked_for_is_asked_for_later() {
    let guarded = stepping("legacy", "").await;
    guarded.realm.behave("step-up token-down");
    for _ in 0..3 {
        assert_eq!(golden(&guarded).await.failed().kind(), Kind::Unauthorized);
        guarded.echo().await;
    }
    assert_eq!(scopes(&guarded), ["work", "work golden"]);
    guarded.realm.behave("step-up");
    guarded.realm.later(11);
    assert!(matches!(golden(&guarded).await.outcome, Outcome::Complete(_)));
    guarded.rig.upstream.stop().await;
}

//! Staying in: renewed ahead of time, once, without a new connection; and thrown out, by whomever.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use toolgate_core::{Kind, ListKind, Outcome, Principal};
use toolgate_testkit::{Expect as _, call, client_legacy};
use toolgate_upstream::{Holder, OauthReason, State, TokenStore as _};

use super::{Guarded, oauth, sign_in};

#[tokio::test]
async fn a_token_is_renewed_ahead_of_time_and_the_connection_stays() {
    for behaviour in ["legacy", "modern"] {
        let guarded = Guarded::start(behaviour, json!({})).await;
        guarded.sign_in().await;
        guarded.echo().await;
        let (first, opened) =
            (guarded.realm.last_seen(), guarded.web.seen.initialized.load(Ordering::SeqCst));
        for round in 1..=3 {
            // 55 of 60 minutes: it still counts, but not for long.
            guarded.realm.later(55 * 60);
            guarded.echo().await;
            guarded
                .rig
                .until("it is renewed", |_| guarded.realm.grants("refresh_token").len() == round)
                .await;
            let old = guarded.realm.last_seen();
            while guarded.realm.last_seen() == old {
                guarded.echo().await;
            }
        }
        assert_ne!(guarded.realm.last_seen(), first, "{behaviour}");
        let forms = guarded.realm.grants("refresh_token");
        assert!(forms.iter().all(|form| form["resource"] == guarded.web.url));
        assert_eq!(guarded.web.seen.initialized.load(Ordering::SeqCst), opened, "{behaviour}");
        assert_eq!(guarded.rig.status().lost, 0);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn calls_at_once_with_a_token_that_has_ended_renew_it_once() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.later(2 * 3600);
    futures_util::future::join_all((0..8).map(|_| guarded.echo())).await;
    assert_eq!(guarded.realm.grants("refresh_token").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn processes_that_share_a_grant_renew_it_in_turn() {
    let guarded = Guarded::start("modern", json!({})).await;
    guarded.sign_in().await;
    let mut plan = crate::rig::plan(guarded.web.table());
    plan.authorize(guarded.tokens.clone(), &crate::rig::surroundings(), guarded.realm.clock.clone()).unwrap();
    let second = toolgate_upstream::Upstream::start(plan, crate::rig::surroundings(), None);
    guarded.rig.until("both are in", |_| second.status().state == State::Connected).await;
    let hub = toolgate_testkit::builder([Arc::new(second)]).build().unwrap();
    guarded.realm.later(2 * 3600);
    let elsewhere = async {
        let run = hub.start(call(client_legacy(), "fake_echo", json!({"b": "y"})));
        toolgate_testkit::drive(run, []).await.complete()
    };
    tokio::join!(guarded.echo(), elsewhere);
    assert_eq!(guarded.realm.grants("refresh_token").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn who_does_not_get_a_turn_does_nothing_and_leaves_it_to_whoever_has_it() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    assert!(guarded.tokens.take_turn("fake", "another").await.unwrap());
    tokio::time::pause();
    let error = guarded.authorizer.logout(Holder::Shared).await.unwrap_err();
    tokio::time::resume();
    assert_eq!(error.reason(), OauthReason::Unavailable, "{error}");
    assert!(guarded.authorizer.standing(Holder::Shared).await.unwrap().is_some());
    assert!(!guarded.tokens.take_turn("fake", "a third").await.unwrap(), "the turn was ended");
    guarded.tokens.end_turn("fake", "another").await.unwrap();
    assert!(guarded.authorizer.logout(Holder::Shared).await.unwrap().was_in);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_and_the_call_goes_through() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let guarded = Guarded::start(behaviour, json!({})).await;
        guarded.sign_in().await;
        guarded.echo().await;
        for _ in 0..2 {
            guarded.realm.forget(false);
            guarded.echo().await;
        }
        assert_eq!(guarded.realm.grants("refresh_token").len(), 2, "{behaviour}");
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_grant_outlives_the_process() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.rig.upstream.stop().await;
    let again = Guarded::over(guarded.realm, guarded.web, json!({}), guarded.tokens);
    again.is(State::Connected).await;
    again.realm.later(2 * 3600);
    again.echo().await;
    assert_eq!(again.realm.asked("/authorize").len(), 1);
    again.rig.upstream.stop().await;
}

#[tokio::test]
async fn who_is_thrown_out_signs_in_again_on_the_same_connection() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.forget(true);
    let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
    assert_eq!((error.kind(), error.next_step()), (Kind::Unauthorized, Some("run `toolgate mcp auth fake`")));
    guarded.is(State::NeedsAuth).await;
    // In another process, as the command line does.
    sign_in(&guarded.elsewhere(json!({})), Holder::Shared).await.unwrap();
    guarded.is(State::Connected).await;
    guarded.echo().await;
    assert_eq!(guarded.realm.asked("/register").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_not_asked_without_end() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.behave("closed");
    for _ in 0..3 {
        let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
        assert_eq!(error.kind(), Kind::Unauthorized);
    }
    assert_eq!(guarded.realm.grants("refresh_token").len(), 1);
    guarded.realm.behave("");
    guarded.rig.until("it heals", |rig| rig.status().state == State::Connected).await;
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn an_authorization_server_that_is_down_costs_only_the_time_it_is_down() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.realm.behave("token-down");
    guarded.realm.later(2 * 3600);
    let error = guarded.rig.call(client_legacy(), "fake_echo", json!({}), None).await.failed();
    assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
    guarded.realm.behave("");
    guarded.echo().await;
    assert_eq!(guarded.realm.asked("/authorize").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn who_signs_out_is_out_everywhere() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.echo().await;
    let out = guarded.elsewhere(json!({})).logout(Holder::Shared).await.unwrap();
    assert_eq!((out.was_in, out.revoked), (true, Some(true)));
    guarded.is(State::NeedsAuth).await;
    let kinds: Vec<String> =
        guarded.realm.asked("/revoke").iter().map(|form| form["token_type_hint"].clone()).collect();
    assert_eq!(kinds, ["refresh_token", "access_token"]);
    let out = guarded.authorizer.logout(Holder::Shared).await.unwrap();
    assert!(!out.was_in);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_moved_does_not_get_the_token_of_the_old_one() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    guarded.rig.upstream.stop().await;
    let elsewhere = guarded.realm.web("legacy").await;
    guarded.realm.seen.lock().unwrap().clear();
    let moved = Guarded::over(guarded.realm, elsewhere, json!({}), guarded.tokens);
    moved.is(State::NeedsAuth).await;
    assert!(moved.realm.seen.lock().unwrap().iter().all(Option::is_none));
    moved.rig.upstream.stop().await;
}

#[tokio::test]
async fn endpoints_may_move_within_an_authorization_server() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    *guarded.realm.token_path.lock().unwrap() = "/v2/token".into();
    guarded.realm.later(2 * 3600);
    guarded.echo().await;
    assert_eq!(guarded.realm.asked("/v2/token").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn another_authorization_server_gets_neither_our_token_nor_our_registration() {
    let old = Guarded::start("legacy", json!({})).await;
    old.sign_in().await;
    old.rig.upstream.stop().await;
    // The same server trusts another now, and nobody gives tokens where it was.
    *old.realm.token_path.lock().unwrap() = "/gone".into();
    let fresh = super::Realm::start("").await;
    let url: url::Url = old.web.url.parse().unwrap();
    let address = format!("127.0.0.1:{}", url.port().unwrap());
    old.web.stop().await;
    let web = fresh.web_at("legacy", &address).await;
    fresh.later(2 * 3600);
    let moved = Guarded::over(fresh, web, json!({}), old.tokens);
    moved.rig.until("it is refused", |_| !moved.realm.seen.lock().unwrap().is_empty()).await;
    assert_eq!(moved.realm.asked("/token").len(), 0);
    moved.sign_in().await;
    assert_eq!(moved.realm.asked("/register").len(), 1);
    assert_eq!(moved.realm.grants("refresh_token").len(), 0);
    moved.rig.upstream.stop().await;
}

#[tokio::test]
async fn more_to_be_allowed_is_asked_for_once_and_by_a_person() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.realm.behave("step-up");
    guarded.sign_in().await;
    let golden = || guarded.rig.call(client_legacy(), "fake_golden", json!({}), None);
    let error = golden().await.failed();
    assert_eq!(error.kind(), Kind::Unauthorized);
    assert!(error.message().contains("`golden`"), "{error}");
    // Everything else goes on.
    guarded.echo().await;
    let status = guarded.rig.status();
    assert_eq!(status.state, State::Connected);
    assert!(status.hint.unwrap().contains("`golden`"));
    assert_eq!(guarded.realm.asked("/authorize").len(), 1);

    sign_in(&guarded.elsewhere(json!({})), Holder::Shared).await.unwrap();
    let asked = guarded.realm.asked("/authorize");
    assert_eq!(asked.last().unwrap()["scope"], "described golden");
    guarded.rig.until("it is taken over", |rig| rig.status().hint.is_none()).await;
    assert!(matches!(golden().await.outcome, Outcome::Complete(_)));

    guarded.realm.behave("step-up insatiable");
    golden().await.failed();
    assert_eq!(
        (guarded.realm.asked("/authorize").len(), guarded.realm.grants("refresh_token").len()),
        (2, 0)
    );
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn principals_that_sign_in_for_themselves_call_with_their_own_token() {
    for behaviour in ["legacy", "modern"] {
        let guarded = Guarded::start(behaviour, oauth(json!({"per_principal": true}))).await;
        guarded.sign_in().await;
        let (ann, ben) = (Principal::named("ann"), Principal::named("ben"));
        let holder = guarded.authorizer.holder(&ann.id);
        assert_ne!(holder, Holder::Shared);
        sign_in(&guarded.authorizer, holder).await.unwrap();
        let of = |principal: &Arc<Principal>| {
            let mut call = call(client_legacy(), "fake_echo", json!({"b": "x"}));
            call.principal = principal.clone();
            guarded.rig.drive(call, None)
        };
        of(&Principal::local()).await.complete();
        let shared = guarded.realm.last_seen();
        of(&ann).await.complete();
        assert_ne!(guarded.realm.last_seen(), shared, "{behaviour}");
        let error = of(&ben).await.failed();
        assert_eq!(error.next_step(), Some("run `toolgate mcp auth fake --principal ben`"), "{behaviour}");
        // Nobody else's token was tried for the one who has none.
        assert_eq!(guarded.realm.last_seen(), None);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn who_gets_no_token_keeps_nobody_else_from_the_server() {
    let guarded = Guarded::start("modern", oauth(json!({"per_principal": true}))).await;
    guarded.sign_in().await;
    let ann = Principal::named("ann");
    sign_in(&guarded.authorizer, guarded.authorizer.holder(&ann.id)).await.unwrap();
    guarded.realm.later(2 * 3600);
    guarded.echo().await;
    guarded.realm.behave("token-down");
    // Each is tried three times.
    for _ in 0..2 {
        let mut of_ann = call(client_legacy(), "fake_echo", json!({"b": "x"}));
        of_ann.principal = ann.clone();
        let error = guarded.rig.drive(of_ann, None).await.failed();
        assert!(!error.message().contains("in a row"), "{error}");
    }
    guarded.echo().await;
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn what_one_principal_is_shown_is_not_listed_for_all() {
    for behaviour in ["legacy", "modern"] {
        let guarded = Guarded::start(behaviour, oauth(json!({"per_principal": true}))).await;
        guarded.realm.behave("personal");
        guarded.sign_in().await;
        let shared = guarded.realm.last_seen().unwrap().replace("Bearer ", "");
        let ann = Principal::named("ann");
        sign_in(&guarded.authorizer, guarded.authorizer.holder(&ann.id)).await.unwrap();
        let mut changing = call(client_legacy(), "fake_change", json!({}));
        changing.principal = ann;
        let before = guarded.realm.listed.lock().unwrap().len();
        guarded.rig.drive(changing, None).await.complete();
        assert_ne!(guarded.realm.last_seen(), Some(format!("Bearer {shared}")), "{behaviour}");
        // Her connection is looked at before the list that she changed is.
        guarded.rig.until("it is listed anew", |_| guarded.realm.listed.lock().unwrap().len() > before).await;
        let names = guarded.rig.names(ListKind::Tools).await;
        assert_eq!(
            names,
            [format!("fake_{}", shared.replace('-', "_")), "fake_change".into()],
            "{behaviour}"
        );
        assert!(guarded.realm.listed.lock().unwrap().iter().all(|token| *token == shared), "{behaviour}");
        guarded.rig.upstream.stop().await;
    }
}

/// One who is signed in, while a renewal is under way that waits for the word.
async fn renewing(behaviour: &str) -> Guarded {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.realm.behave(behaviour);
    guarded.sign_in().await;
    guarded.realm.behave(&format!("{behaviour} slow-token"));
    guarded.realm.later(55 * 60);
    guarded.echo().await;
    guarded.rig.until("it is being renewed", |_| guarded.realm.waiting.load(Ordering::SeqCst) == 1).await;
    guarded
}

#[tokio::test]
async fn who_signs_out_during_a_renewal_is_out() {
    let guarded = renewing("").await;
    let elsewhere = guarded.elsewhere(json!({}));
    let word = async { guarded.realm.go.notify_one() };
    let (out, ()) = tokio::join!(elsewhere.logout(Holder::Shared), word);
    assert!(out.unwrap().was_in);
    guarded.is(State::NeedsAuth).await;
    assert_eq!(
        (guarded.authorizer.standing(Holder::Shared).await.unwrap(), guarded.realm.renewable()),
        (None, 0)
    );
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_renewal_that_is_late_brings_nobody_back_who_is_out() {
    let guarded = renewing("").await;
    // As if its turn had run out.
    guarded.tokens.remove("fake").await.unwrap();
    guarded.is(State::NeedsAuth).await;
    guarded.realm.go.notify_one();
    guarded.rig.until("it is given back", |_| guarded.realm.asked("/revoke").len() == 2).await;
    assert!(guarded.tokens.load("fake").await.unwrap().is_none());
    assert_eq!((guarded.rig.status().state, guarded.realm.renewable()), (State::NeedsAuth, 0));
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn what_was_missing_during_a_renewal_is_remembered_beside_what_it_gave() {
    let guarded = renewing("step-up").await;
    let before = guarded.realm.seen.lock().unwrap().len();
    let golden = guarded.rig.call(client_legacy(), "fake_golden", json!({}), None);
    let word = async {
        guarded.rig.until("it is refused", |_| guarded.realm.seen.lock().unwrap().len() > before).await;
        guarded.realm.go.notify_one();
    };
    let (driven, ()) = tokio::join!(golden, word);
    assert_eq!(driven.failed().kind(), Kind::Unauthorized);
    guarded.rig.until("it is renewed", |_| guarded.realm.renewable() == 1).await;
    guarded.realm.behave("step-up");
    // By what the renewal gave it is renewed once more.
    guarded.realm.later(2 * 3600);
    guarded.echo().await;
    assert_eq!(
        (guarded.realm.grants("refresh_token").len(), guarded.realm.asked("/authorize").len()),
        (2, 1)
    );
    assert!(guarded.rig.status().hint.unwrap().contains("`golden`"));
    guarded.rig.upstream.stop().await;
}

//! Runs of modern clients that wait for their answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{
    Call, Hub, Kind, NewConnection, Outcome, Pass, Principal, Question, Settings, Transport,
};
use toolgate_host::Clock;
use toolgate_testkit::{Expect, FakeSource, builder, call, client_modern, first_round, retry};
use toolgate_wire::{Edit, Raw};

/// A tool that asks two things and answers with what it was told.
fn source() -> Arc<FakeSource> {
    Arc::new(FakeSource::new("a").tool("ask", |_, run| async move {
        let form = Raw::literal(r#"{"message":"name?","requestedSchema":{"type":"object"}}"#);
        let questions = vec![Question::elicit("name", form), Question::roots("roots")];
        Ok(Outcome::Complete(run.ask(questions).await?.to_raw()))
    }))
}

fn scene(max_parked: usize) -> (Hub, Clock, Arc<FakeSource>) {
    let (clock, source) = (Clock::manual(1_000_000), source());
    let settings = Settings { max_parked, ..Settings::default() };
    let hub = builder([source.clone()]).clock(clock.clone()).settings(settings).build().unwrap();
    (hub, clock, source)
}

fn first() -> Call {
    call(client_modern(), "ask", json!({"a": 1, "b": 2}))
}

fn answers() -> Value {
    json!({"name": {"action": "accept"}, "roots": {"roots": []}})
}

async fn asked(hub: &Hub) -> String {
    first_round(hub, first()).await.asked().1
}

#[tokio::test]
async fn a_retry_goes_on_where_the_run_stopped() {
    let (hub, _, source) = scene(9);
    let (requests, state) = first_round(&hub, first()).await.asked();
    assert_eq!(
        requests,
        json!({
            "name": {"method": "elicitation/create", "params": {"message": "name?", "requestedSchema": {"type": "object"}}},
            "roots": {"method": "roots/list", "params": {}},
        })
    );
    assert_eq!(first_round(&hub, retry(first(), &state, answers())).await.complete(), answers());
    assert_eq!(source.calls(), 1, "the run went on; it did not begin anew");
}

#[tokio::test]
async fn what_may_differ_in_a_retry_differs() {
    let (hub, _, _) = scene(9);
    let state = asked(&hub).await;
    let mut again = retry(first(), &state, answers());
    again.params = Edit::new(&Raw::literal(r#"{ "arguments":{"b":2,"a":1}, "name":"ask"}"#))
        .set("_meta", Raw::literal(r#"{"progressToken":7}"#))
        .set("requestState", Raw::string(&state))
        .set("inputResponses", Raw::of(&answers()))
        .finish();
    first_round(&hub, again).await.complete();
}

#[tokio::test]
async fn a_state_that_is_not_this_calls_own_is_refused() {
    let (hub, clock, _) = scene(9);
    let state = asked(&hub).await;
    let flipped = |place: usize| {
        let mut bytes = state.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let good = || retry(first(), &state, answers());
    let other_tool = call(client_modern(), "other", json!({"a": 1, "b": 2}));
    let cases = [
        ("principal", Call { principal: Principal::named("eve"), ..good() }),
        ("arguments", retry(call(client_modern(), "ask", json!({"a": 1, "b": 3})), &state, answers())),
        (
            "more arguments",
            retry(call(client_modern(), "ask", json!({"a": 1, "b": 2, "c": 3})), &state, answers()),
        ),
        ("tool", retry(other_tool, &state, answers())),
        ("first byte", retry(first(), &flipped(0), answers())),
        ("middle byte", retry(first(), &flipped(state.len() / 2), answers())),
        ("last bytes", retry(first(), &flipped(state.len() - 2), answers())),
        ("cut", retry(first(), &state[..state.len() - 4], answers())),
        ("empty", retry(first(), "", answers())),
        ("foreign", retry(first(), "eyJwIjoxfQ", answers())),
    ];
    for (name, wrong) in cases {
        assert_eq!(first_round(&hub, wrong).await.failed().kind(), Kind::InvalidParams, "{name}");
    }
    // None of these used it up.
    clock.advance(Duration::from_secs(299));
    first_round(&hub, good()).await.complete();
}

#[tokio::test]
async fn a_state_ends_with_its_time_and_with_its_hub() {
    let (hub, clock, _) = scene(9);
    let state = asked(&hub).await;
    let (other_hub, _, _) = scene(9);
    let error = first_round(&other_hub, retry(first(), &state, answers())).await.failed();
    assert_eq!(error.kind(), Kind::InvalidParams);
    clock.advance(Duration::from_secs(301));
    let error = first_round(&hub, retry(first(), &state, answers())).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::InvalidParams, "`requestState` has expired"));
}

#[tokio::test]
async fn a_state_can_be_used_once() {
    let (hub, _, source) = scene(9);
    let state = asked(&hub).await;
    first_round(&hub, retry(first(), &state, answers())).await.complete();
    let error = first_round(&hub, retry(first(), &state, answers())).await.failed();
    assert_eq!(error.kind(), Kind::InvalidParams);
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn what_is_missing_is_asked_again_and_nothing_else() {
    let (hub, _, _) = scene(9);
    for partial in [
        json!({"name": {"action": "accept"}}),
        json!({"name": {"action": "accept"}, "roots": null}),
        json!({"name": {"action": "accept"}, "roots": "all"}),
        json!({"name": {"action": "accept"}, "roots": [1], "unknown": {"x": 1}}),
    ] {
        let state = asked(&hub).await;
        let (requests, state) = first_round(&hub, retry(first(), &state, partial.clone())).await.asked();
        assert_eq!(requests.as_object().unwrap().keys().collect::<Vec<_>>(), ["roots"], "{partial}");
        let rest = retry(first(), &state, json!({"roots": {"roots": []}, "other": {}}));
        assert_eq!(first_round(&hub, rest).await.complete(), answers(), "{partial}");
    }
    for nothing in [json!({}), json!([]), json!("x")] {
        let state = asked(&hub).await;
        let (requests, _) = first_round(&hub, retry(first(), &state, nothing)).await.asked();
        assert_eq!(requests.as_object().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn only_so_many_wait_and_time_makes_room() {
    let (hub, clock, source) = scene(2);
    let states = [asked(&hub).await, asked(&hub).await];
    let error = first_round(&hub, first()).await.failed();
    assert_eq!(error.kind(), Kind::RateLimited);
    first_round(&hub, retry(first(), &states[0], answers())).await.complete();
    asked(&hub).await;
    clock.advance(Duration::from_secs(301));
    asked(&hub).await;
    asked(&hub).await;
    assert_eq!(source.calls(), 6);
}

#[tokio::test]
async fn the_counter_follows_those_that_wait() {
    let (hub, _, _) = scene(9);
    let state = asked(&hub).await;
    let parked = |count: u32| hub.metrics().encode().contains(&format!("toolgate_calls_parked {count}\n"));
    assert!(parked(1));
    first_round(&hub, retry(first(), &state, answers())).await.complete();
    assert!(parked(0));
}

#[tokio::test]
async fn the_state_shows_nothing() {
    let (hub, _, _) = scene(9);
    let (one, two) = (asked(&hub).await, asked(&hub).await);
    assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{one}");
    assert_ne!(one[..32], two[..32]);
    assert!(!one.contains(&Raw::string("local").as_str()[1..6]));
}

#[tokio::test]
async fn answers_are_passed_on_as_they_were_written() {
    let (hub, _, _) = scene(9);
    let state = asked(&hub).await;
    let exact = r#"{"name":{"n":[9007199254740993,1.0,1e400,"é"]},"roots":{}}"#;
    let mut again = retry(first(), &state, json!({}));
    again.resume.as_mut().unwrap().responses = Some(Raw::literal(exact));
    let Outcome::Complete(told) = first_round(&hub, again).await else { panic!("not complete") };
    assert_eq!(told.as_str(), exact);
}

#[tokio::test]
async fn a_run_whose_client_has_gone_waits_no_longer() {
    let (hub, _, _) = scene(9);
    let connect = || {
        let (transport, principal) = (Transport::Stdio, Principal::local());
        hub.connect(NewConnection { transport, principal, process: None })
    };
    let (stays, goes) = (connect(), connect());
    let mut states = Vec::new();
    for connection in [&stays, &goes] {
        let call = Call { connection: Some(connection.id()), ..first() };
        states.push(first_round(&hub, call).await.asked().1);
    }
    assert_eq!(hub.running().len(), 2);
    drop(goes);
    let limit = tokio::time::Instant::now() + Duration::from_secs(60);
    while hub.running().len() > 1 {
        assert!(tokio::time::Instant::now() < limit, "it still runs");
        tokio::task::yield_now().await;
    }
    let gone = first_round(&hub, retry(first(), &states[1], answers())).await.failed();
    assert_eq!(gone.kind(), Kind::InvalidParams);
    first_round(&hub, retry(first(), &states[0], answers())).await.complete();
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_caller_is_not_let_in_any_more_waits_no_longer() {
    let (hub, _, _) = scene(9);
    let (holds, ends) = (Pass::new(Principal::local()), Pass::new(Principal::local()));
    let mut states = Vec::new();
    for pass in [&holds, &ends, &ends] {
        let call = Call { pass: Some(pass.clone()), ..first() };
        states.push(first_round(&hub, call).await.asked().1);
    }
    ends.end();
    // The same principal may have another way in.
    let gone = first_round(&hub, retry(first(), &states[1], answers())).await.failed();
    assert_eq!(gone.kind(), Kind::InvalidParams);
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert_eq!(hub.running().len(), 1);
    first_round(&hub, retry(first(), &states[0], answers())).await.complete();
}

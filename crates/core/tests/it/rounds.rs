//! Sources that ask by result, as servers of the modern era do.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Capabilities, Kind, Outcome};
use toolgate_testkit::{
    Expect, FakeSource, call, client_legacy, client_modern, client_with, drive, first_round, hub, retry, text,
};
use toolgate_wire::{Raw, Version};

/// Asks `q1`, `q2`, … by result until it has asked so often.
fn asking(rounds: usize) -> Arc<FakeSource> {
    Arc::new(FakeSource::new("a").tool("ask", move |permitted, _| async move {
        let done: usize = permitted.state().map_or(0, |state| state.parse().unwrap());
        if done == rounds {
            return Ok(Outcome::Complete(text("done")));
        }
        let form = json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}});
        let key = format!("q{}", done + 1);
        Ok(Outcome::InputRequired {
            requests: Raw::of(&json!({key: form})),
            state: Some((done + 1).to_string()),
        })
    }))
}

fn yes() -> Value {
    json!({"action": "accept", "content": {}})
}

#[tokio::test]
async fn a_modern_client_gets_the_question_and_the_source_gets_its_own_state_back() {
    let source = asking(2);
    let hub = hub([source.clone()]);
    let first = || call(client_modern(), "ask", json!({"x": 1}));
    let (requests, state) = first_round(&hub, first()).await.asked();
    assert_eq!(requests["q1"]["params"]["message"], "?");
    assert_ne!(state, "1", "the state is sealed");
    let (requests, state) = first_round(&hub, retry(first(), &state, json!({"q1": yes()}))).await.asked();
    assert!(requests.get("q2").is_some());
    first_round(&hub, retry(first(), &state, json!({"q2": yes()}))).await.complete();
    let states: Vec<_> = source.seen().into_iter().map(|seen| seen.state).collect();
    assert_eq!(states, [None, Some("1".into()), Some("2".into())]);
    assert_eq!(source.seen()[2].answers, Some(json!({"q2": yes()}).to_string()));
}

#[tokio::test]
async fn a_sources_state_serves_no_other_call() {
    let hub = hub([asking(1)]);
    let (_, state) = first_round(&hub, call(client_modern(), "ask", json!({"x": 1}))).await.asked();
    let other = retry(call(client_modern(), "ask", json!({"x": 2})), &state, json!({"q1": yes()}));
    assert_eq!(first_round(&hub, other).await.failed().kind(), Kind::InvalidParams);
}

#[tokio::test]
async fn a_legacy_client_is_asked_inline_and_the_source_called_again() {
    let source = asking(2);
    let run = hub([source.clone()]).start(call(client_legacy(), "ask", json!({"x": 1})));
    let driven = drive(run, [("q1", yes()), ("q2", yes())]).await;
    let question = r#"elicitation/create {"message":"?","requestedSchema":{}}"#;
    assert_eq!(driven.events, [format!("ask q1 {question}"), format!("ask q2 {question}")]);
    driven.complete();
    let seen = source.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!((seen[2].state.as_deref(), seen[2].arguments.as_str()), (Some("2"), r#"{"x":1}"#));
    assert_eq!(seen[2].answers, Some(json!({"q2": yes()}).to_string()));
}

#[tokio::test]
async fn a_source_that_asks_more_than_eight_times_is_taken_for_a_loop() {
    for (rounds, ends_well) in [(8, true), (100, false)] {
        let source = asking(rounds);
        let answers: Vec<(String, Value)> = (1..=100).map(|round| (format!("q{round}"), yes())).collect();
        let run = hub([source.clone()]).start(call(client_legacy(), "ask", json!({})));
        let driven = drive(run, answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()))).await;
        // Who was asked is heard.
        assert_eq!((driven.events.len(), source.calls()), (8, 9));
        match ends_well {
            true => drop(driven.complete()),
            false => assert_eq!(driven.failed().kind(), Kind::Upstream),
        }
    }
}

#[tokio::test]
async fn a_modern_client_is_not_led_around_in_a_loop_either() {
    for (rounds, ends_well) in [(8, true), (100, false)] {
        let source = asking(rounds);
        let hub = hub([source.clone()]);
        let first = || call(client_modern(), "ask", json!({}));
        let mut outcome = first_round(&hub, first()).await;
        for round in 1..=8 {
            let Outcome::InputRequired { state: Some(state), .. } = &outcome else { panic!("{outcome:?}") };
            let answers = json!({format!("q{round}"): yes()});
            outcome = first_round(&hub, retry(first(), state, answers)).await;
        }
        assert_eq!(source.calls(), 9);
        match ends_well {
            true => drop(outcome.complete()),
            false => assert_eq!(outcome.failed().kind(), Kind::Upstream),
        }
    }
}

#[tokio::test]
async fn a_client_is_not_asked_what_it_cannot_answer() {
    for version in [Version::LATEST_LEGACY, Version::LATEST] {
        let mute = client_with(version, Capabilities { roots: true, ..Capabilities::default() });
        let hub = hub([asking(1)]);
        let error = first_round(&hub, call(mute, "ask", json!({}))).await.failed();
        assert_eq!(error.kind(), Kind::MissingCapability, "{version:?}");
        let data = error.detail().unwrap().as_str().to_owned();
        assert_eq!(data, r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#);
    }
}

#[tokio::test]
async fn an_unknown_question_fails_for_legacy_and_passes_for_modern() {
    let source = || {
        Arc::new(FakeSource::new("a").tool("ask", |_, _| async {
            let requests = Raw::literal(r#"{"k":{"method":"future/thing","params":{"a":1.0}}}"#);
            Ok(Outcome::InputRequired { requests, state: None })
        }))
    };
    let run = hub([source()]).start(call(client_legacy(), "ask", json!({})));
    assert_eq!(drive(run, []).await.failed().kind(), Kind::Upstream);
    let (requests, _) = first_round(&hub([source()]), call(client_modern(), "ask", json!({}))).await.asked();
    assert_eq!(requests["k"]["method"], "future/thing");
}

//! A gate that wants a person asked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate_core::{Capabilities, Client, Hub, Kind, Outcome, Question, Resume, Verdict};
use toolgate_testkit::{
    Expect, FakeGate, FakeSource, approval, builder, call, client_legacy, client_modern, client_with, drive,
    first_round, retry, text,
};
use toolgate_wire::{Raw, Version};

use crate::inbox::Asking;

fn guarded(source: FakeSource) -> (Arc<FakeSource>, Hub) {
    let source = Arc::new(source);
    let hub = builder([source.clone()]).gate(Box::new(FakeGate::asking("ok"))).build().unwrap();
    (source, hub)
}

fn modern() -> toolgate_core::Call {
    call(client_modern(), "echo", json!({"n": 1}))
}

#[tokio::test]
async fn a_legacy_client_is_asked_once_and_a_yes_lets_the_call_pass() {
    let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
    let run = hub.start(call(client_legacy(), "echo", json!({})));
    let driven = drive(run, [("ok", json!({"action": "accept", "content": {}}))]).await;
    assert_eq!(driven.events.len(), 1);
    let asked = r#"ask ok elicitation/create {"message":"`local` wants to use `tool:echo`.\n\n{}\n\nWhy you are asked: may it?""#;
    assert!(driven.events[0].starts_with(asked), "{}", driven.events[0]);
    driven.complete();
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_caller_cannot_hide_what_it_writes_from_who_is_asked() {
    let (_, hub) = guarded(FakeSource::new("a").echo("echo"));
    let mut hiding = modern();
    let content = "harmless ".repeat(1000);
    let params = format!(
        r#"{{"name":"echo","arguments":{{"content":"{content}","\u0070ath":"\u202e\u0072\u006d\u200b","n":1.00}}}}"#
    );
    hiding.params = Raw::parse(params.into()).unwrap();
    let (requests, _) = first_round(&hub, hiding).await.asked();
    let message = requests["ok"]["params"]["message"].as_str().unwrap();
    for shown in [r#""path": "\u{202e}rm\u{200b}""#, r#"harmless " … and 5400 more letters"#, r#""n": 1.00"#]
    {
        assert!(message.contains(shown), "{shown} in {message}");
    }
}

#[tokio::test]
async fn anything_but_a_plain_yes_denies() {
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "ACCEPT"}),
        json!({"action": true}),
        json!({"action": ["accept"]}),
        json!({"accept": true}),
        json!({}),
        json!("accept"),
        json!(null),
    ] {
        let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
        let run = hub.start(call(client_legacy(), "echo", json!({})));
        let error = drive(run, [("ok", answer.clone())]).await.failed();
        assert_eq!(error.kind(), Kind::Denied, "{answer}");
        assert_eq!(source.calls(), 0, "{answer}");
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_that_approval_is_needed() {
    let mute = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let unreachable = Arc::new(Client { reachable: false, ..(*client_legacy()).clone() });
    for client in [mute, unreachable] {
        let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
        let error = drive(hub.start(call(client, "echo", json!({}))), []).await.failed();
        assert_eq!(error.kind(), Kind::NeedsApproval);
        assert_eq!(source.calls(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_time_is_a_refusal_that_says_so() {
    let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
    let mut run = hub.start(call(client_legacy(), "echo", json!({})));
    let asked = run.next().await;
    let error = drive(run, []).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Denied, "nobody answered the question in time"));
    assert_eq!(source.calls(), 0);
    drop(asked);
}

#[tokio::test]
async fn every_gate_that_asks_is_answered_by_itself() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let hub = builder([source.clone()])
        .gate(Box::new(FakeGate::asking("ok")))
        .gate(Box::new(FakeGate::asking("ok")))
        .build()
        .unwrap();
    for (second, calls) in [("decline", 0), ("accept", 1)] {
        let answers = [("ok", json!({"action": "accept"})), ("ok", json!({"action": second}))];
        let driven = drive(hub.start(call(client_legacy(), "echo", json!({}))), answers).await;
        assert_eq!(driven.events.len(), 2);
        assert_eq!(source.calls(), calls);
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_by_result_and_its_retry_passes() {
    let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
    let (requests, state) = first_round(&hub, modern()).await.asked();
    assert_eq!(requests["ok"]["method"], "elicitation/create");
    let message = requests["ok"]["params"]["message"].as_str().unwrap();
    assert!(message.contains(r#""n": 1"#) && message.ends_with("may it?"), "{message}");
    assert_eq!(source.calls(), 0);
    let again = retry(modern(), &state, json!({"ok": {"action": "accept"}}));
    first_round(&hub, again).await.complete();
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_modern_no_denies() {
    let (source, hub) = guarded(FakeSource::new("a").echo("echo"));
    let (_, state) = first_round(&hub, modern()).await.asked();
    let again = retry(modern(), &state, json!({"ok": {"action": "decline"}}));
    assert_eq!(first_round(&hub, again).await.failed().kind(), Kind::Denied);
    assert_eq!(source.calls(), 0);
}

/// Asks `name` by result, and greets when it is told.
fn greeter() -> FakeSource {
    FakeSource::new("a").tool("echo", |permitted, _| async move {
        match permitted.answers().and_then(|answers| answers.get("name")) {
            Some(name) => Ok(Outcome::Complete(text(name.as_str()))),
            None => Ok(Outcome::InputRequired {
                requests: Raw::of(&json!({"name": {"method": "elicitation/create", "params": {}}})),
                state: Some("round 1".into()),
            }),
        }
    })
}

#[tokio::test]
async fn one_approval_covers_all_rounds_of_the_call() {
    let (source, hub) = guarded(greeter());
    let (_, state) = first_round(&hub, modern()).await.asked();
    let (requests, state) =
        first_round(&hub, retry(modern(), &state, json!({"ok": {"action": "accept"}}))).await.asked();
    assert!(requests.get("name").is_some() && requests.get("ok").is_none(), "{requests}");
    first_round(&hub, retry(modern(), &state, json!({"name": {"action": "accept"}}))).await.complete();
    assert_eq!(source.seen()[1].state.as_deref(), Some("round 1"));
}

#[tokio::test]
async fn an_approval_under_other_rules_covers_no_further_round() {
    let (source, policy) = (Arc::new(greeter()), Arc::new(Mutex::new("1")));
    let hub = builder([source.clone()]).gate(Box::new(Asking(policy.clone()))).build().unwrap();
    let (_, state) = first_round(&hub, modern()).await.asked();
    let (_, state) =
        first_round(&hub, retry(modern(), &state, json!({"careful": {"action": "accept"}}))).await.asked();
    *policy.lock().unwrap() = "2";
    let again = retry(modern(), &state, json!({"name": {"action": "accept"}}));
    let (requests, _) = first_round(&hub, again).await.asked();
    assert!(requests.get("careful").is_some(), "{requests}");
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_round_that_nobody_approved_does_not_count_as_approved() {
    let source = Arc::new(greeter());
    let asks = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let switch = asks.clone();
    let gate = FakeGate::new(move |_| match switch.load(std::sync::atomic::Ordering::SeqCst) {
        true => approval("ok"),
        false => Verdict::Pass.into(),
    });
    let hub = builder([source.clone()]).gate(Box::new(gate)).build().unwrap();
    let (_, state) = first_round(&hub, modern()).await.asked();
    asks.store(true, std::sync::atomic::Ordering::SeqCst);
    let again = retry(modern(), &state, json!({"name": {"action": "accept"}}));
    let (requests, state) = first_round(&hub, again).await.asked();
    assert!(requests.get("ok").is_some(), "{requests}");
    assert_eq!(source.calls(), 1);
    first_round(&hub, retry(modern(), &state, json!({"ok": {"action": "accept"}}))).await.complete();
    assert_eq!(source.seen()[1].answers.as_deref(), Some(r#"{"name":{"action":"accept"}}"#));
}

#[tokio::test]
async fn answers_sent_before_anything_was_asked_do_not_satisfy_a_gate() {
    let seeded = |mut call: toolgate_core::Call, responses: Value| {
        call.resume = Some(Resume { responses: Some(Raw::of(&responses)), state: None });
        call
    };
    let (source, hub) = guarded(FakeSource::new("a").tool("echo", |_, run| async move {
        let answers = run.ask(vec![Question::roots("ok")]).await?;
        Ok(Outcome::Complete(answers.to_raw()))
    }));
    let first = seeded(modern(), json!({"ok": {"action": "accept"}}));
    let (_, state) = first_round(&hub, first).await.asked();
    assert_eq!(source.calls(), 0);
    // The source itself may use them: they are what the client says, and nothing more.
    let again = retry(modern(), &state, json!({"ok": {"action": "accept", "second": 1}}));
    assert_eq!(first_round(&hub, again).await.complete(), json!({"ok": {"action": "accept"}}));
}

//! Questions to a client that nobody waits for any more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_core::{Hub, Outcome, Question, Settings};
use toolgate_testkit::{FakeSource, hub, text};
use toolgate_wire::Raw;

use crate::scene::runtime;
use crate::talk::Talk;

const CANCELLED: &str = "notifications/cancelled";
const FORM: &str = r#"{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#;

/// A hub with tools that ask, and do not wait for the answer: `end` ends, `go_on` waits for something else.
fn scene(asked: &Arc<Notify>) -> Hub {
    let question = || vec![Question::elicit("q", Raw::literal(FORM))];
    let (first, second) = (asked.clone(), asked.clone());
    let source = FakeSource::new("a")
        .tool("end", move |_, run| {
            let asked = first.clone();
            async move {
                tokio::select! {
                    answers = run.ask(question()) => drop(answers),
                    () = asked.notified() => {}
                }
                Ok(Outcome::Complete(text("ended")))
            }
        })
        .tool("go_on", move |_, run| {
            let asked = second.clone();
            async move {
                tokio::select! {
                    answers = run.ask(question()) => drop(answers),
                    () = asked.notified() => {}
                }
                run.cancelled().await;
                Ok(Outcome::Complete(text("never heard")))
            }
        })
        .tool("wait", move |_, run| async move {
            let answers = run.ask(question()).await?;
            Ok(Outcome::Complete(text(answers.to_raw().as_str())))
        });
    hub([Arc::new(source)])
}

async fn asking(talk: &mut Talk, tool: &str) -> (Value, Value) {
    let id = talk.send("tools/call", json!({"name": tool, "arguments": {}})).await;
    (id, talk.question().await)
}

async fn taken_back(talk: &mut Talk, question: &Value) {
    let params = talk.told(CANCELLED, |_| true).await;
    assert_eq!(params["requestId"], question["id"]);
    assert!(params["reason"].is_string(), "{params}");
}

#[test]
fn a_question_whose_call_ends_is_taken_back_before_the_answer() {
    runtime().block_on(async {
        let asked = Arc::new(Notify::new());
        let mut talk = Talk::begin(scene(&asked)).await;
        talk.greet("2025-11-25").await;
        let (id, question) = asking(&mut talk, "end").await;
        asked.notify_one();
        let result = talk.result(&id).await;
        assert_eq!(result["content"][0]["text"], "ended");
        assert!(talk.heard(CANCELLED), "it comes after the answer");
        taken_back(&mut talk, &question).await;
        // The answer may have been on its way.
        talk.answer(&question, json!({"action": "accept", "content": {}})).await;
        let (id, question) = asking(&mut talk, "wait").await;
        talk.answer(&question, json!({"action": "decline"})).await;
        let result = talk.result(&id).await;
        assert_eq!(result["content"][0]["text"], r#"{"q":{"action":"decline"}}"#);
        assert!(!talk.heard(CANCELLED));
        talk.end().await;
    });
}

#[test]
fn a_question_is_taken_back_while_its_call_goes_on() {
    runtime().block_on(async {
        let asked = Arc::new(Notify::new());
        let mut talk = Talk::begin(scene(&asked)).await;
        talk.greet("2025-11-25").await;
        let (_, question) = asking(&mut talk, "go_on").await;
        asked.notify_one();
        taken_back(&mut talk, &question).await;
        talk.end().await;
    });
}

#[test]
fn a_question_of_a_call_that_its_client_cancels_is_taken_back() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene(&Arc::default())).await;
        talk.greet("2025-11-25").await;
        let (id, question) = asking(&mut talk, "wait").await;
        talk.notify(CANCELLED, json!({"requestId": id})).await;
        taken_back(&mut talk, &question).await;
        talk.end().await;
    });
}

#[test]
fn a_question_that_nobody_answers_in_time_is_taken_back() {
    runtime().block_on(async {
        let hub = scene(&Arc::default());
        hub.set_settings(Settings { ask_time_limit: Duration::from_millis(50), ..Settings::default() });
        let mut talk = Talk::begin(hub).await;
        talk.greet("2025-11-25").await;
        let (id, question) = asking(&mut talk, "wait").await;
        taken_back(&mut talk, &question).await;
        assert_eq!(talk.result(&id).await["isError"], true);
        talk.end().await;
    });
}

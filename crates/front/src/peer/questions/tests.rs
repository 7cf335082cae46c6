//! Questions that end in every way, and what is remembered of them.

use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use toolgate_core::{Principal, Transport};
use toolgate_testkit::{FakeSource, call, client_legacy, hub};
use toolgate_wire::Response;

use super::*;

/// How long a test waits for what should come at once. It only turns a hang into a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run that has asked so many questions at once, and waits for the answers until it has had enough.
async fn asked(count: usize) -> (Run, Ask, Arc<Notify>) {
    let enough = Arc::new(Notify::new());
    let until = enough.clone();
    let source = FakeSource::new("a").tool("ask", move |_, run| {
        let until = until.clone();
        async move {
            let question = |number: usize| Question::elicit(number.to_string(), Raw::literal("{}"));
            tokio::select! {
                answers = run.ask((0..count).map(question).collect()) => drop(answers),
                () = until.notified() => {}
            }
            std::future::pending().await
        }
    });
    let mut run = hub([Arc::new(source)]).start(call(client_legacy(), "ask", json!({})));
    let event = tokio::time::timeout(PATIENCE, run.next()).await;
    let Ok(Some(Event::Ask(ask))) = event else { panic!("not asked") };
    (run, ask, enough)
}

fn peer() -> Arc<Peer> {
    Arc::new(Peer::new(Principal::local(), None, Transport::Stdio))
}

fn answer(peer: &Peer, number: u64, outcome: Result<Raw, Raw>) {
    peer.answered(Response { id: Some(question_id(number)), outcome });
}

/// How many sets of questions are remembered, how many questions of them are open, and how many bytes are kept.
fn remembered(peer: &Peer) -> (usize, usize, usize) {
    let questions = &peer.lock().questions;
    let open = questions.asked.values().map(|together| together.open.len()).sum();
    (questions.asked.len(), open, questions.kept())
}

/// What takes questions back.
async fn frames(run: &mut Run, posed: &mut Vec<Posed>) -> Vec<String> {
    let heard = tokio::time::timeout(PATIENCE, heard(run, posed)).await.expect("nothing is heard");
    let frames = heard.expect_err("the run says something");
    frames.into_iter().map(|frame| String::from_utf8(frame.into()).unwrap()).collect()
}

#[tokio::test]
async fn what_nobody_waits_for_is_taken_back_and_forgotten() {
    let ((mut run, ask, enough), peer) = (asked(2).await, peer());
    let (posed, put) = peer.ask(ask).unwrap();
    assert_eq!((put.len(), remembered(&peer)), (2, (1, 2, 2)));
    answer(&peer, 1, Ok(Raw::literal(r#"{"a":1}"#)));
    assert_eq!(remembered(&peer), (1, 1, 2 + 7));
    enough.notify_one();
    let taken_back = concat!(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"toolgate-2","#,
        r#""reason":"nobody waits for the answer any more"}}"#
    );
    let mut posed = vec![posed];
    assert_eq!(frames(&mut run, &mut posed).await, [taken_back]);
    assert_eq!((posed.len(), remembered(&peer)), (0, (0, 0, 0)));
    // Its answer may have been on its way.
    answer(&peer, 2, Ok(Raw::EMPTY_OBJECT));
    assert_eq!(remembered(&peer), (0, 0, 0));
}

#[tokio::test]
async fn one_refusal_takes_back_what_was_asked_with_it() {
    let ((mut run, ask, _), peer) = (asked(2).await, peer());
    let mut posed = vec![peer.ask(ask).unwrap().0];
    answer(&peer, 1, Err(Raw::literal(r#"{"message":"no"}"#)));
    let frames = frames(&mut run, &mut posed).await;
    assert!(frames.len() == 1 && frames[0].contains(r#""requestId":"toolgate-2""#), "{frames:?}");
    assert_eq!(remembered(&peer), (0, 0, 0));
}

#[tokio::test]
async fn what_is_answered_is_forgotten_without_a_word() {
    let ((mut run, ask, _), peer) = (asked(1).await, peer());
    let mut posed = vec![peer.ask(ask).unwrap().0];
    answer(&peer, 1, Ok(Raw::EMPTY_OBJECT));
    assert_eq!(frames(&mut run, &mut posed).await, Vec::<String>::new());
    assert_eq!(remembered(&peer), (0, 0, 0));
}

#[tokio::test]
async fn a_client_has_only_so_many_questions_before_it() {
    let peer = peer();
    let (_run, ask, _) = asked(MOST_ASKED).await;
    let (posed, _) = peer.ask(ask).unwrap();
    let (_other, ask, _) = asked(1).await;
    assert!(peer.ask(ask).is_none());
    assert_eq!(remembered(&peer).1, MOST_ASKED);
    drop(posed);
    assert_eq!(remembered(&peer), (0, 0, 0));
    let (_third, ask, _) = asked(1).await;
    assert!(peer.ask(ask).is_some());
}

#[tokio::test]
async fn answers_that_wait_for_others_are_kept_only_up_to_a_size() {
    let ((mut run, ask, _), peer) = (asked(3).await, peer());
    let mut posed = vec![peer.ask(ask).unwrap().0];
    let large = Raw::string(&"x".repeat(MOST_KEPT / 2));
    answer(&peer, 1, Ok(large.clone()));
    assert_eq!(remembered(&peer).1, 2);
    answer(&peer, 2, Ok(large));
    let frames = frames(&mut run, &mut posed).await;
    assert!(frames.len() == 1 && frames[0].contains(r#""requestId":"toolgate-3""#), "{frames:?}");
    assert_eq!(remembered(&peer), (0, 0, 0));
}

#[tokio::test]
async fn what_is_over_before_it_is_put_is_not_put() {
    let ((run, ask, _), peer) = (asked(1).await, peer());
    drop(run);
    tokio::time::timeout(PATIENCE, async {
        while !ask.is_over() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .expect("it is asked still");
    assert!(peer.ask(ask).is_none());
    assert_eq!(remembered(&peer), (0, 0, 0));
}

//! Cancellation and deadlines.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use toolgate_core::{
    Admission, Call, Kind, Limiter, Outcome, Place, Principal, Question, Settings, SourceId, Taken, Target,
    TooMany,
};
use toolgate_testkit::{
    Expect, FakeSource, builder, call, client_legacy, client_modern, drive, first_round, hub, retry, text,
};

/// Says when it is dropped.
struct Dropped(mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

/// A source that never ends, and one that notices cancellation.
fn patient() -> (FakeSource, mpsc::UnboundedReceiver<&'static str>) {
    let (sender, ended) = mpsc::unbounded_channel();
    let other = sender.clone();
    let source = FakeSource::new("a")
        .tool("deaf", move |_, _| {
            let dropped = Dropped(sender.clone());
            async move {
                let _dropped = dropped;
                std::future::pending().await
            }
        })
        .tool("listening", move |_, run| {
            let told = other.clone();
            async move {
                run.cancelled().await;
                told.send("noticed").ok();
                Ok(Outcome::Complete(text("stopped halfway")))
            }
        });
    (source, ended)
}

#[tokio::test]
async fn dropping_the_run_cancels_the_call() {
    for (tool, end) in [("deaf", "dropped"), ("listening", "noticed")] {
        let (source, mut ended) = patient();
        let hub = hub([Arc::new(source)]);
        drop(hub.start(call(client_legacy(), tool, json!({}))));
        assert_eq!(ended.recv().await, Some(end));
    }
}

#[tokio::test]
async fn a_cancelled_call_says_so_and_a_source_that_does_not_listen_is_dropped() {
    let (source, mut ended) = patient();
    let hub = hub([Arc::new(source)]);
    let run = hub.start(call(client_legacy(), "deaf", json!({})));
    run.cancel();
    assert!(run.is_cancelled());
    assert_eq!(drive(run, []).await.failed().kind(), Kind::Cancelled);
    assert_eq!(ended.recv().await, Some("dropped"));
}

#[tokio::test]
async fn a_source_that_listens_may_still_answer() {
    let (source, _ended) = patient();
    let hub = hub([Arc::new(source)]);
    let run = hub.start(call(client_legacy(), "listening", json!({})));
    run.canceller().cancel();
    drive(run, []).await.complete();
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_the_lower_of_its_limit_and_the_hubs() {
    for (asked, seconds) in [(None, 600), (Some(5), 5), (Some(9000), 600)] {
        let (source, mut ended) = patient();
        let hub = hub([Arc::new(source)]);
        let limited =
            Call { time_limit: asked.map(Duration::from_secs), ..call(client_legacy(), "deaf", json!({})) };
        let begun = Instant::now();
        assert_eq!(drive(hub.start(limited), []).await.failed().kind(), Kind::Timeout);
        assert_eq!(begun.elapsed().as_secs(), seconds);
        assert_eq!(ended.recv().await, Some("dropped"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_may_take_longer_than_calls_usually_may_and_its_hint_says_what_to_set() {
    const MINUTE: u64 = 60;
    for (own, asked, seconds, hint) in [
        (MINUTE, None, 600, Some("set `a.timeout` to more than 600000 if it needs longer")),
        (30 * MINUTE, None, 1800, Some("set `a.timeout` to more than 1800000 if it needs longer")),
        // Who has a limit of its own knows of it.
        (30 * MINUTE, Some(5), 5, None),
        (30 * MINUTE, Some(9000), 600, None),
    ] {
        let (source, _ended) = patient();
        let hub = hub([Arc::new(source.takes(Duration::from_secs(own)))]);
        let limited =
            Call { time_limit: asked.map(Duration::from_secs), ..call(client_legacy(), "deaf", json!({})) };
        let begun = Instant::now();
        let error = drive(hub.start(limited), []).await.failed();
        assert_eq!((error.kind(), error.next_step()), (Kind::Timeout, hint), "{own} {asked:?}");
        assert_eq!(begun.elapsed().as_secs(), seconds, "{own} {asked:?}");
    }
}

/// Lets a call to a source only after so many seconds.
struct Crowded(u64);

impl Limiter for Crowded {
    fn take(&self, _: &Principal, _: Option<&Target>) -> Result<Taken, TooMany> {
        Ok(Taken::default())
    }

    fn give_back(&self, _: &Principal, _: &Target, _: &Taken) {}

    fn enter(&self, _: &Principal, _: &SourceId) -> Admission<'_> {
        Admission::Waiting(Box::pin(async {
            sleep(Duration::from_secs(self.0)).await;
            Place::default()
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_was_over_in_our_queue_does_not_blame_its_source() {
    for (queued, hint) in [(100, "set `a.timeout`"), (1000, "it still waited for its turn")] {
        let (source, _ended) = patient();
        let source = Arc::new(source.takes(Duration::from_secs(60)));
        let hub = builder([source]).limiter(Arc::new(Crowded(queued))).build().unwrap();
        let error = drive(hub.start(call(client_legacy(), "deaf", json!({}))), []).await.failed();
        assert_eq!(error.kind(), Kind::Timeout);
        assert!(error.next_step().is_some_and(|next| next.starts_with(hint)), "{queued}: {error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_seen_to_get_on_has_its_time_anew_unless_its_caller_set_a_limit() {
    for (asked, silent, ends_after) in
        [(None, 500, None), (None, 601, Some(600)), (Some(550), 500, Some(550))]
    {
        let hub = hub([Arc::new(FakeSource::new("a").tool("work", move |_, run| async move {
            for _ in 0..5 {
                sleep(Duration::from_secs(silent)).await;
                run.gets_on();
            }
            Ok(Outcome::Complete(text("done")))
        }))]);
        let limited =
            Call { time_limit: asked.map(Duration::from_secs), ..call(client_legacy(), "work", json!({})) };
        let begun = Instant::now();
        match (drive(hub.start(limited), []).await.outcome, ends_after) {
            (Outcome::Complete(_), None) => assert_eq!(begun.elapsed().as_secs(), 2500),
            (Outcome::Failed(error), Some(seconds)) => {
                assert_eq!((error.kind(), begun.elapsed().as_secs()), (Kind::Timeout, seconds));
            }
            (other, _) => panic!("{other:?}"),
        }
    }
}

/// Works for 8 s, asks (both at once where it has two questions), and works for the seconds given.
fn asking(keys: &'static [&'static str], then: u64) -> Arc<FakeSource> {
    Arc::new(FakeSource::new("a").tool("ask", move |_, run| async move {
        sleep(Duration::from_secs(8)).await;
        let asks = keys.iter().map(|key| run.ask(vec![Question::roots(*key)]));
        for answers in futures_util::future::join_all(asks).await {
            answers?;
        }
        sleep(Duration::from_secs(then)).await;
        Ok(Outcome::Complete(text("done")))
    }))
}

fn ten_seconds(client: Arc<toolgate_core::Client>) -> Call {
    Call { time_limit: Some(Duration::from_secs(10)), ..call(client, "ask", json!({})) }
}

#[tokio::test(start_paused = true)]
async fn the_time_a_question_takes_does_not_count() {
    for (then, ends_well) in [(1, true), (3, false)] {
        let hub = hub([asking(&["q"], then)]);
        let mut run = hub.start(ten_seconds(client_legacy()));
        let Some(toolgate_core::Event::Ask(ask)) = run.next().await else { panic!("no question") };
        sleep(Duration::from_secs(200)).await;
        let mut answers = toolgate_core::Answers::default();
        answers.insert("q", toolgate_wire::Raw::literal("{}"));
        ask.answer(Ok(answers));
        let outcome = drive(run, []).await.outcome;
        assert_eq!(matches!(outcome, Outcome::Complete(_)), ends_well, "{then}: {outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_questions_at_once_stop_the_clock_until_both_are_answered() {
    let hub = hub([asking(&["fast", "slow"], 3)]);
    let mut run = hub.start(ten_seconds(client_legacy()));
    for pause in [1, 100] {
        let Some(toolgate_core::Event::Ask(ask)) = run.next().await else { panic!("no question") };
        sleep(Duration::from_secs(pause)).await;
        let mut answers = toolgate_core::Answers::default();
        answers.insert(ask.questions[0].key.clone(), toolgate_wire::Raw::literal("{}"));
        ask.answer(Ok(answers));
    }
    let begun = Instant::now();
    assert_eq!(drive(run, []).await.failed().kind(), Kind::Timeout);
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_has_a_limit_of_its_own() {
    let settings = Settings { ask_time_limit: Duration::from_secs(30), ..Settings::default() };
    let hub = builder([asking(&["q"], 0)]).settings(settings).build().unwrap();
    let mut run = hub.start(ten_seconds(client_legacy()));
    let question = run.next().await;
    let begun = Instant::now();
    let error = drive(run, []).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Timeout, "nobody answered the question in time"));
    assert_eq!(begun.elapsed().as_secs(), 30);
    drop(question);
}

#[tokio::test(start_paused = true)]
async fn a_retry_brings_a_new_limit() {
    for (limit, ends_well) in [(9, true), (5, false)] {
        let hub = hub([asking(&["q"], 7)]);
        let (_, state) = first_round(&hub, ten_seconds(client_modern())).await.asked();
        let again = retry(ten_seconds(client_modern()), &state, json!({"q": {"roots": []}}));
        let again = Call { time_limit: Some(Duration::from_secs(limit)), ..again };
        let outcome = first_round(&hub, again).await;
        assert_eq!(matches!(outcome, Outcome::Complete(_)), ends_well, "{limit}: {outcome:?}");
    }
}

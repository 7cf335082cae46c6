//! What a run tells before it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolgate_core::{Event, LogLevel, Outcome, Progress};
use toolgate_testkit::{Expect, FakeSource, call, client_legacy, drive, hub, text};
use toolgate_wire::Raw;

async fn talk(run: &toolgate_core::RunHandle) {
    run.progress(Progress::new(1.0, Some(2.0), Some("half"))).await;
    run.log(LogLevel::Warning, Some("disk"), &Raw::literal(r#"{"free":0}"#)).await;
    run.other("notifications/x", Raw::literal("{}")).await;
    run.progress(Progress::new(1.5, None, None)).await;
    run.log(LogLevel::Debug, None, &Raw::literal("1.0")).await;
}

const TALK: [&str; 5] = [
    r#"progress {"progress":1,"total":2,"message":"half"}"#,
    r#"log {"level":"warning","logger":"disk","data":{"free":0}}"#,
    "notifications/x {}",
    r#"progress {"progress":1.5}"#,
    r#"log {"level":"debug","data":1.0}"#,
];

#[tokio::test]
async fn events_arrive_in_order_before_the_end() {
    let source = FakeSource::new("a")
        .tool("at_once", |_, run| async move {
            talk(&run).await;
            Ok(Outcome::Complete(text("done")))
        })
        .tool("later", |_, run| async move {
            tokio::task::yield_now().await;
            talk(&run).await;
            Ok(Outcome::Complete(text("done")))
        });
    let hub = hub([Arc::new(source)]);
    for tool in ["at_once", "later"] {
        let driven = drive(hub.start(call(client_legacy(), tool, json!({}))), []).await;
        assert_eq!(driven.events, TALK, "{tool}");
        driven.complete();
    }
}

/// However few they are, large events wait only in the room that there is for them.
#[tokio::test(start_paused = true)]
async fn a_source_waits_while_its_caller_has_too_much_to_read() {
    let said = Arc::new(AtomicUsize::new(0));
    let count = said.clone();
    let source = FakeSource::new("a").tool("shout", move |_, run| {
        let count = count.clone();
        async move {
            let much = Raw::string(&"x".repeat(6 << 20));
            for _ in 0..20 {
                run.log(LogLevel::Info, None, &much).await;
                count.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Outcome::Complete(text("done")))
        }
    });
    let hub = hub([Arc::new(source)]);
    let mut run = hub.start(call(client_legacy(), "shout", json!({})));
    for read in 0..20 {
        // All that can be said is said before time passes.
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(said.load(Ordering::SeqCst), (read + 2).min(20), "two find room beside what was read");
        assert!(matches!(run.next().await, Some(Event::Log(_))), "{read}");
    }
    assert!(matches!(run.next().await, Some(Event::Done(_))));
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let source = FakeSource::new("a").echo("at_once").tool("later", |_, run| async move {
        tokio::task::yield_now().await;
        let late = run.clone();
        #[expect(clippy::disallowed_methods, reason = "a source that leaves a task behind")]
        tokio::spawn(async move { late.progress(Progress::new(9.0, None, None)).await });
        Ok(Outcome::Complete(text("done")))
    });
    let hub = hub([Arc::new(source)]);
    for tool in ["at_once", "later"] {
        let mut run = hub.start(call(client_legacy(), tool, json!({})));
        assert!(matches!(run.next().await, Some(Event::Done(_))), "{tool}");
        let after = tokio::time::timeout(Duration::from_secs(60), run.next()).await;
        assert!(matches!(after, Ok(None)), "{tool}: {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_holds_the_source_back_and_loses_nothing() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    let source = FakeSource::new("a").tool("busy", move |_, run| {
        let sent = counter.clone();
        async move {
            for number in 0..1000_u32 {
                run.progress(Progress::new(f64::from(number), None, None)).await;
                sent.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Outcome::Complete(text("done")))
        }
    });
    let hub = hub([Arc::new(source)]);
    let mut run = hub.start(call(client_legacy(), "busy", json!({})));
    for number in 0..1000_u32 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let ahead = sent.load(Ordering::SeqCst).saturating_sub(number as usize);
        assert!(ahead <= 34, "the source is {ahead} events ahead of its reader");
        let Some(Event::Progress(progress)) = run.next().await else { panic!("no progress {number}") };
        assert_eq!(progress.0.as_str(), format!(r#"{{"progress":{number}}}"#));
    }
    drive(run, []).await.complete();
}

#[tokio::test]
async fn a_run_whose_task_was_stopped_ends_without_an_outcome() {
    let hub = hub([Arc::new(FakeSource::new("a").tool("stuck", |_, run| async move {
        let _run = run;
        std::future::pending().await
    }))]);
    let mut run = hub.start(call(client_legacy(), "stuck", json!({})));
    hub.tasks().shutdown(Duration::ZERO).await;
    let end = tokio::time::timeout(Duration::from_secs(60), run.next()).await;
    assert!(matches!(end, Ok(None)), "{end:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_at_once_each_come_to_their_own_end() {
    let source = FakeSource::new("a").tool("mixed", |permitted, run| async move {
        let number: u64 = permitted.arguments().get("n").unwrap().as_u64().unwrap();
        run.progress(Progress::new(0.0, None, None)).await;
        if number.is_multiple_of(2) {
            tokio::task::yield_now().await;
        }
        if number.is_multiple_of(3) {
            tokio::time::sleep(Duration::from_millis(number % 7)).await;
        }
        run.progress(Progress::new(1.0, None, None)).await;
        Ok(Outcome::Complete(text(&number.to_string())))
    });
    let hub = hub([Arc::new(source)]);
    let runs = (0..500_u32).map(|number| {
        let run = hub.start(call(client_legacy(), "mixed", json!({"n": number})));
        hub.tasks().spawn(async move {
            let driven = drive(run, []).await;
            assert_eq!(driven.events.len(), 2);
            assert_eq!(driven.complete()["content"][0]["text"], number.to_string());
        })
    });
    for run in futures_util::future::join_all(runs).await {
        run.unwrap();
    }
    assert!(hub.metrics().encode().contains("toolgate_calls_running 0\n"));
}

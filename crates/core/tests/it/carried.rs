//! Calls that whoever waits for them carries.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Notify, mpsc};
use toolgate_core::{Entry, Event, Hub, Outcome, Progress, Recorder, Result};
use toolgate_testkit::{Expect as _, FakeSource, builder, call, client_legacy, client_modern, drive, text};

/// Tells how calls ended.
struct Told(mpsc::UnboundedSender<&'static str>);

impl Recorder for Told {
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        false
    }

    fn record(&self, entry: &Entry<'_>) {
        self.0.send(entry.outcome).ok();
    }
}

/// A hub with a tool that waits, and one that says something before; and how calls ended.
fn stage() -> (Hub, Arc<Notify>, mpsc::UnboundedReceiver<&'static str>) {
    let go = Arc::new(Notify::new());
    let (waits, speaks, detaches) = (go.clone(), go.clone(), go.clone());
    let source = FakeSource::new("a")
        .tool("waits", move |_, _| {
            let go = waits.clone();
            async move {
                go.notified().await;
                Ok(Outcome::Complete(text("done")))
            }
        })
        .tool("speaks", move |_, run| {
            let go = speaks.clone();
            async move {
                run.progress(Progress::new(1.0, None, None)).await;
                go.notified().await;
                Ok(Outcome::Complete(text("done")))
            }
        })
        .tool("detaches", move |_, run| {
            let go = detaches.clone();
            async move {
                go.notified().await;
                run.detach().await?;
                Ok(Outcome::Complete(text("done")))
            }
        });
    let (told, ended) = mpsc::unbounded_channel();
    (builder([Arc::new(source)]).recorder(Arc::new(Told(told))).build().unwrap(), go, ended)
}

/// How the next call ended, unless none is recorded.
async fn next(ended: &mut mpsc::UnboundedReceiver<&'static str>) -> Option<&'static str> {
    tokio::time::timeout(Duration::from_secs(60), ended.recv()).await.expect("a record")
}

#[tokio::test]
async fn a_carried_call_needs_no_task_of_the_hub() {
    let (hub, go, mut ended) = stage();
    // The first call makes what all others use.
    drive(hub.carry(call(client_legacy(), "unknown", json!({}))), []).await.failed();
    assert_eq!(next(&mut ended).await, Some("notFound"));
    let before = hub.tasks().len();
    let mut run = hub.carry(call(client_legacy(), "waits", json!({})));
    assert!(futures_util::FutureExt::now_or_never(run.next()).is_none());
    assert_eq!((hub.running().len(), hub.tasks().len()), (1, before));
    go.notify_one();
    drive(run, []).await.complete();
    assert_eq!((hub.running().len(), next(&mut ended).await), (0, Some("complete")));
}

/// How often somebody was woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_end_of_a_carried_call_does_not_wake_who_has_seen_it() {
    let (hub, go, _ended) = stage();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let context = &mut Context::from_waker(&waker);
    let mut run = hub.carry(call(client_legacy(), "waits", json!({})));
    assert!(pin!(run.next()).poll(context).is_pending());
    go.notify_one();
    assert_eq!(wakes.0.swap(0, Ordering::Relaxed), 1);
    let end = pin!(run.next()).poll(context);
    assert!(matches!(end, Poll::Ready(Some(Event::Done(Outcome::Complete(_))))));
    drop(run);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_carried_call_that_is_dropped_is_cancelled_and_recorded() {
    let (hub, _go, mut ended) = stage();
    let mut run = hub.carry(call(client_legacy(), "waits", json!({})));
    assert!(futures_util::FutureExt::now_or_never(run.next()).is_none());
    drop(run);
    assert_eq!(next(&mut ended).await, Some("cancelled"));
    while !hub.running().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn once_it_has_said_something_it_gets_on_by_itself() {
    let (hub, go, mut ended) = stage();
    let mut run = hub.carry(call(client_legacy(), "speaks", json!({})));
    assert!(matches!(run.next().await, Some(Event::Progress(_))));
    go.notify_one();
    // Nobody waits for the run meanwhile.
    assert_eq!(next(&mut ended).await, Some("complete"));
    assert!(matches!(run.next().await, Some(Event::Done(Outcome::Complete(_)))));
    assert!(run.next().await.is_none());
}

#[tokio::test]
async fn one_that_is_handed_over_gets_on_by_itself() {
    let (hub, go, mut ended) = stage();
    let mut run = hub.carry(call(client_legacy(), "waits", json!({})));
    run.hand_over();
    go.notify_one();
    assert_eq!(next(&mut ended).await, Some("complete"));
    drive(run, []).await.complete();
}

#[tokio::test]
async fn a_carried_call_that_becomes_a_task_goes_on_as_one() {
    let (hub, go, mut ended) = stage();
    let run = hub.carry(call(client_modern(), "detaches", json!({})));
    go.notify_one();
    assert!(matches!(run.outcome().await, Outcome::Task(_)));
    assert_eq!(next(&mut ended).await, Some("complete"));
}

#[test]
fn a_carried_call_can_be_dropped_when_nothing_runs_any_more() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let (hub, _go, _ended) = stage();
        hub.carry(call(client_legacy(), "waits", json!({})))
    });
    drop(runtime);
    drop(run);
}

//! Sources that are still learning what they have.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use toolgate_core::{Call, Hub, Kind, Kinds, ListKind, Principal, Target};
use toolgate_testkit::{
    Expect, FakeSource, call, client_legacy, drive, hub, list_names, resource_item, text, tool_item,
};
use toolgate_wire::Raw;

/// A ready source with the tool `ready`, and one that learns the tool `late` in so many seconds.
fn scene(seconds: u64) -> (Hub, Arc<FakeSource>) {
    let answer = |_, _| async { Ok(toolgate_core::Outcome::Complete(text("late"))) };
    let slow = FakeSource::new("slow").otherwise(answer);
    let slow = Arc::new(slow.pending(Kinds::only(ListKind::Tools).with(ListKind::Resources)));
    let hub = hub([slow.clone(), Arc::new(FakeSource::new("fast").echo("ready"))]);
    let learning = slow.clone();
    hub.tasks().spawn(async move {
        sleep(Duration::from_secs(seconds)).await;
        learning.change(|listing| {
            listing.tools.push(Arc::new(tool_item("late")));
            listing.resources.push(resource_item("file:///late"));
            listing.pending = Kinds::NONE;
        });
    });
    (hub, slow)
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_for_a_source_that_is_nearly_ready() {
    let (hub, slow) = scene(1);
    let begun = Instant::now();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["late", "ready"]);
    assert_eq!(begun.elapsed().as_secs(), 1);
    assert!(slow.demanded().contains(&ListKind::Tools));
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_no_longer_than_its_limit_and_the_change_is_told_later() {
    let (hub, _) = scene(60);
    let mut changes = hub.changes(&Principal::local());
    let begun = Instant::now();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["ready"]);
    assert_eq!(begun.elapsed().as_secs(), 2);
    // A list that nobody has to learn does not wait at all.
    list_names(&hub, ListKind::Prompts).await;
    assert_eq!(begun.elapsed().as_secs(), 2);
    changes.next().await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 60);
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["late", "ready"]);
}

#[tokio::test(start_paused = true)]
async fn one_slow_source_never_delays_a_call_to_another() {
    let (hub, _) = scene(60);
    let begun = Instant::now();
    drive(hub.start(call(client_legacy(), "ready", json!({}))), []).await.complete();
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_call_for_something_unknown_waits_for_sources_that_may_have_it() {
    let resource = |uri: &str| {
        Call::new(Principal::local(), client_legacy(), Target::Resource(uri.into()), Raw::literal("{}"))
    };
    let tool = |name: &str| call(client_legacy(), name, json!({}));
    for (wanted, learned_after, took, end) in [
        (tool("late"), 1, 1, Ok(())),
        (tool("late"), 60, 2, Err(Kind::UnknownTarget)),
        (tool("never"), 1, 1, Err(Kind::UnknownTarget)),
        (resource("file:///late"), 1, 1, Ok(())),
        (resource("file:///never"), 60, 2, Err(Kind::ResourceNotFound)),
    ] {
        let name = wanted.target.name().to_owned();
        let (hub, _) = scene(learned_after);
        let begun = Instant::now();
        let outcome = drive(hub.start(wanted), []).await.outcome;
        let ended = if let toolgate_core::Outcome::Failed(error) = outcome {
            Err(error.kind())
        } else {
            outcome.complete();
            Ok(())
        };
        assert_eq!((begun.elapsed().as_secs(), ended), (took, end), "{name} after {learned_after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_settled_view_is_what_a_list_shows() {
    let (hub, _) = scene(1);
    assert_eq!(hub.view(&Principal::local(), None).tools().count(), 1);
    let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
    let names: Vec<_> =
        view.tools_by_source().map(|(source, tool)| format!("{source}:{}", tool.name)).collect();
    assert_eq!(names, ["slow:late", "fast:ready"]);
    assert!(view.tool("late").is_some() && view.tool("none").is_none());
}

//! Sources and settings that are replaced while the hub runs.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use toolgate_core::{Change, ListKind, Look, Outcome, Principal, Settings};
use toolgate_testkit::{
    Expect, FakeSource, call, client_legacy, drive, hub, list_names, resource_item, text,
};
use toolgate_wire::Version;

#[tokio::test]
async fn new_sources_are_listed_and_called_and_old_ones_are_gone() {
    let hub = hub([Arc::new(FakeSource::new("old").echo("old_tool"))]);
    let mut changes = hub.changes(&Principal::local());
    let fresh = Arc::new(FakeSource::new("fresh").echo("fresh_tool"));
    hub.set_sources(vec![fresh.clone()]);
    assert!(matches!(changes.next().await, Some(Change::Listed(_, ListKind::Tools))));
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["fresh_tool"]);
    drive(hub.start(call(client_legacy(), "fresh_tool", json!({}))), []).await.outcome.complete();
    assert_eq!(fresh.calls(), 1);
    drive(hub.start(call(client_legacy(), "old_tool", json!({}))), []).await.outcome.failed();
}

#[tokio::test]
async fn a_new_source_is_followed_like_one_from_the_start() {
    let hub = hub([Arc::new(FakeSource::new("old"))]);
    let mut changes = hub.changes(&Principal::local());
    let fresh = Arc::new(FakeSource::new("fresh"));
    hub.set_sources(vec![fresh.clone()]);
    fresh.change(|listing| listing.resources.push(resource_item("file:///a")));
    assert!(matches!(changes.next().await, Some(Change::Listed(_, ListKind::Resources))));
    fresh.updated("file:///a");
    assert!(matches!(changes.next().await, Some(Change::Updated(update)) if &*update.uri == "file:///a"));
}

#[tokio::test]
async fn sources_that_list_the_same_are_not_announced() {
    let source = || Arc::new(FakeSource::new("same").echo("tool"));
    let hub = hub([source()]);
    let mut changes = hub.changes(&Principal::local());
    hub.set_sources(vec![source()]);
    let marker = Arc::new(FakeSource::new("same").echo("tool").with(|listing| {
        listing.resources.push(resource_item("file:///marker"));
    }));
    hub.set_sources(vec![marker]);
    // Had the first replacement been announced, it would come first.
    assert!(matches!(changes.next().await, Some(Change::Listed(_, ListKind::Resources))));
}

#[tokio::test]
async fn a_call_under_way_ends_with_the_source_it_began_with() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told, waits) = (begun.clone(), go_on.clone());
    let slow = FakeSource::new("slow").tool("slow", move |_, _| {
        let (told, waits) = (told.clone(), waits.clone());
        async move {
            told.notify_one();
            waits.notified().await;
            Ok(Outcome::Complete(text("from the old one")))
        }
    });
    let hub = hub([Arc::new(slow)]);
    let run = hub.start(call(client_legacy(), "slow", json!({})));
    begun.notified().await;
    hub.set_sources(Vec::new());
    assert!(list_names(&hub, ListKind::Tools).await.is_empty());
    go_on.notify_one();
    let result = drive(run, []).await.outcome.complete();
    assert_eq!(result["content"][0]["text"], "from the old one");
}

#[tokio::test]
async fn new_settings_hold_for_lists_that_were_ready_before() {
    let hub = hub([Arc::new(FakeSource::new("two").echo("a").echo("b"))]);
    let look = Look { principal: &Principal::local(), profile: None, version: Version::LATEST_LEGACY };
    let whole = hub.list(&look, ListKind::Tools, None).await.unwrap();
    assert!(whole.get("nextCursor").is_none());
    hub.set_settings(Settings { page_size: 1, ..Settings::default() });
    let first = hub.list(&look, ListKind::Tools, None).await.unwrap();
    assert!(first.get("nextCursor").is_some());
}

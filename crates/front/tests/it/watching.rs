//! Resources that clients watch, until they leave.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate_core::{ConnectionId, Hub, Outcome};
use toolgate_testkit::{FakeSource, hub, resource_item, template_item};
use toolgate_wire::Raw;

use crate::scene::{PATIENCE, runtime};
use crate::talk::Talk;

/// A source with a resource, and by whom it is watched.
fn watched() -> (Arc<FakeSource>, Arc<Mutex<Vec<ConnectionId>>>) {
    let watchers = Arc::new(Mutex::new(Vec::new()));
    let by = watchers.clone();
    let source = FakeSource::new("a").otherwise(move |_, run| {
        by.lock().unwrap().extend(run.connection());
        async { Ok(Outcome::Complete(Raw::literal("{}"))) }
    });
    (Arc::new(source.with(|listing| listing.resources.push(resource_item("a://one")))), watchers)
}

async fn left(source: &FakeSource, watcher: ConnectionId) {
    let limit = tokio::time::Instant::now() + PATIENCE;
    while !source.departed().contains(&watcher) {
        assert!(tokio::time::Instant::now() < limit, "its source never hears that it left");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn one(hub: &Hub) -> Talk {
    Talk::begin(hub.clone()).await
}

#[test]
fn sources_hear_which_client_has_left() {
    runtime().block_on(async {
        let (source, watchers) = watched();
        let mut talk = one(&hub([source.clone()])).await;
        talk.greet("2025-11-25").await;
        talk.ask("resources/subscribe", json!({"uri": "a://one"})).await;
        let watcher = watchers.lock().unwrap()[0];
        assert!(source.departed().is_empty());
        talk.end().await;
        left(&source, watcher).await;
    });
}

#[test]
fn sources_hear_which_stream_has_ended_and_no_call_is_made_for_it() {
    runtime().block_on(async {
        let (source, watchers) = watched();
        let hub = hub([source.clone()]);
        let mut talk = one(&hub).await;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        });
        let wanted = json!({"notifications": {"resourceSubscriptions": ["a://one"]}, "_meta": meta});
        let streams = [
            talk.send("subscriptions/listen", wanted.clone()).await,
            talk.send("subscriptions/listen", wanted).await,
        ];
        for _ in &streams {
            talk.told("notifications/subscriptions/acknowledged", |_| true).await;
        }
        let all = watchers.lock().unwrap().clone();
        assert_ne!(all[0], all[1]);
        assert!(hub.connections().iter().all(|connection| !all.contains(&connection.id)));
        talk.notify("notifications/cancelled", json!({"requestId": streams[0]})).await;
        let limit = tokio::time::Instant::now() + PATIENCE;
        while source.departed().is_empty() {
            assert!(tokio::time::Instant::now() < limit, "its source never hears that the stream ended");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!((source.departed().len(), source.calls()), (1, 2));
        talk.end().await;
        left(&source, all[0]).await;
        left(&source, all[1]).await;
        assert_eq!(source.calls(), 2);
    });
}

#[test]
fn a_client_ceases_to_watch_what_no_source_has_for_now() {
    runtime().block_on(async {
        let (source, watchers) = watched();
        let hub = hub([source.clone()]);
        let (mut one, mut other) = (one(&hub).await, one(&hub).await);
        one.greet("2025-11-25").await;
        other.greet("2025-11-25").await;
        let params = json!({"uri": "a://one"});
        one.ask("resources/subscribe", params.clone()).await;
        source.change(|listing| listing.resources.clear());
        one.told("notifications/resources/list_changed", |_| true).await;
        // Who does not watch it learns that it is not there.
        let error = other.refused("resources/unsubscribe", params.clone()).await;
        assert_eq!((&error["code"], source.let_go_of().len()), (&json!(-32002), 0));
        assert_eq!(one.ask("resources/unsubscribe", params.clone()).await, json!({}));
        let watcher = watchers.lock().unwrap()[0];
        assert_eq!(source.let_go_of(), [(watcher, "a://one".to_owned())]);
        assert_eq!(one.refused("resources/unsubscribe", params).await["code"], json!(-32002));
        one.end().await;
        other.end().await;
    });
}

#[test]
fn what_a_client_watches_beyond_its_bound_is_not_kept_by_its_source() {
    runtime().block_on(async {
        let (source, watchers) = watched();
        source.change(|listing| listing.templates.push(template_item("a://t/{number}")));
        let mut talk = one(&hub([source.clone()])).await;
        talk.greet("2025-11-25").await;
        for number in 0..1000 {
            talk.ask("resources/subscribe", json!({"uri": format!("a://t/{number}")})).await;
        }
        assert_eq!(source.let_go_of(), []);
        let error = talk.refused("resources/subscribe", json!({"uri": "a://t/1000"})).await;
        assert!(error["message"].as_str().unwrap().contains("watches 1000 resources"), "{error}");
        let watcher = watchers.lock().unwrap()[0];
        assert_eq!(source.let_go_of(), [(watcher, "a://t/1000".to_owned())]);
        talk.end().await;
    });
}

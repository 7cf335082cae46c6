//! Resources that clients watch, until they leave.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate_core::{ConnectionId, Hub, Outcome, Update};
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

/// The params by which a modern client listens to what becomes of resources.
fn listening(uris: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    });
    json!({"notifications": {"resourceSubscriptions": uris}, "_meta": meta})
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
        let wanted = listening(&json!(["a://one"]));
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

/// A client of either era that watches all of these, and by which id it listens.
async fn watchers(hub: &Hub, uris: &[String]) -> [(Talk, Value); 2] {
    let (mut legacy, mut modern) = (one(hub).await, one(hub).await);
    legacy.greet("2025-11-25").await;
    for uri in uris {
        legacy.ask("resources/subscribe", json!({"uri": uri})).await;
    }
    let id = modern.send("subscriptions/listen", listening(&json!(uris))).await;
    modern.told("notifications/subscriptions/acknowledged", |_| true).await;
    [(legacy, Value::Null), (modern, id)]
}

#[test]
fn clients_are_told_of_every_resource_of_a_burst() {
    // One thread, so that nobody has a turn before the burst is over.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (source, _) = watched();
        source.change(|listing| listing.templates.push(template_item("a://t/{number}")));
        let uris: Vec<String> = (0..300).map(|number| format!("a://t/{number}")).collect();
        let talks = watchers(&hub([source.clone()]), &uris).await;
        uris.iter().for_each(|uri| source.updated(uri));
        for (mut talk, id) in talks {
            for uri in &uris {
                let params =
                    talk.told("notifications/resources/updated", |params| params["uri"] == **uri).await;
                assert_eq!(params["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
            }
            talk.end().await;
        }
    });
}

#[test]
fn a_burst_of_one_server_says_nothing_of_what_is_watched_at_others() {
    // One thread, so that nobody has a turn before the burst is over.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (bursting, _) = watched();
        let answers =
            FakeSource::new("b").otherwise(|_, _| async { Ok(Outcome::Complete(Raw::EMPTY_OBJECT)) });
        let other = Arc::new(answers.with(|listing| listing.resources.push(resource_item("b://one"))));
        let uris = ["a://one", "b://one"].map(str::to_owned);
        let talks = watchers(&hub([bursting.clone(), other.clone()]), &uris).await;
        (0..300).for_each(|number| bursting.updated(&format!("a://{number}")));
        let said = json!({"uri": "b://one", "title": "Its own word"});
        for (mut talk, _) in talks {
            talk.told("notifications/resources/updated", |params| params["uri"] == "a://one").await;
            other.tells(Update { params: Some(Raw::of(&said)), ..Update::of("b://one") });
            let params =
                talk.told("notifications/resources/updated", |params| params["uri"] == "b://one").await;
            assert_eq!(params["title"], said["title"]);
            talk.end().await;
        }
    });
}

#[test]
fn what_is_said_of_a_changed_resource_reaches_those_who_watch_it() {
    runtime().block_on(async {
        let (source, _) = watched();
        let talks = watchers(&hub([source.clone()]), &["a://one".to_owned()]).await;
        let said = json!({"uri": "a://one", "title": "One", "_meta": {"com.example/why": "saved"}});
        source.tells(Update { params: Some(Raw::of(&said)), ..Update::of("a://one") });
        for (mut talk, id) in talks {
            let mut params = talk.told("notifications/resources/updated", |_| true).await;
            let meta = params["_meta"].as_object_mut().unwrap();
            let stream = meta.remove("io.modelcontextprotocol/subscriptionId").unwrap_or_default();
            assert_eq!((params, stream), (said.clone(), id));
            talk.end().await;
        }
    });
}

#[test]
fn who_listens_no_more_is_not_told_of_the_end() {
    runtime().block_on(async {
        let (source, _) = watched();
        let hub = hub([source]);
        // Which of the two is seen first is a matter of chance, if both are there.
        for _ in 0..30 {
            let mut talk = one(&hub).await;
            let id = talk.send("subscriptions/listen", listening(&json!(["a://one"]))).await;
            talk.told("notifications/subscriptions/acknowledged", |_| true).await;
            talk.notify("notifications/cancelled", json!({"requestId": id})).await;
            assert_eq!(talk.end().await, Vec::<Value>::new());
        }
    });
}

//! Who is connected and what runs.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use toolgate_core::{ClientName, NewConnection, Outcome, Principal, Transport};
use toolgate_testkit::{FakeSource, call, client_legacy, hub, text};

fn newcomer(transport: Transport, process: Option<u32>) -> NewConnection {
    NewConnection { transport, principal: Principal::local(), process }
}

#[tokio::test]
async fn a_connection_shows_for_as_long_as_it_lasts() {
    let hub = hub::<FakeSource>([]);
    let first = hub.connect(newcomer(Transport::Http, None));
    let second = hub.connect(newcomer(Transport::Attached, Some(7)));
    second.named(ClientName { name: "claude-code".into(), version: "2".into() });
    let seen: Vec<_> =
        hub.connections().into_iter().map(|info| (info.id, info.transport, info.process)).collect();
    assert_eq!(seen, [(first.id(), Transport::Http, None), (second.id(), Transport::Attached, Some(7))]);
    drop(first);
    let left = hub.connections();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].client.as_ref().map(|client| client.name.as_str()), Some("claude-code"));
    drop(second);
    assert!(hub.connections().is_empty());
}

#[tokio::test]
async fn a_call_that_waits_shows_until_it_ends_and_one_that_does_not_never_shows() {
    let go = Arc::new(Notify::new());
    let gate = go.clone();
    let source = FakeSource::new("a").echo("quick").tool("slow", move |_, _| {
        let gate = gate.clone();
        async move {
            gate.notified().await;
            Ok(Outcome::Complete(text("done")))
        }
    });
    let hub = hub([Arc::new(source)]);
    let connected = hub.connect(newcomer(Transport::Stdio, None));
    let mut slow = call(client_legacy(), "slow", json!({}));
    slow.connection = Some(connected.id());
    let slow = hub.start(slow);
    let quick = hub.start(call(client_legacy(), "quick", json!({})));
    let running = hub.running();
    assert_eq!(running.len(), 1, "{running:?}");
    assert_eq!((running[0].target.name(), running[0].connection), ("slow", Some(connected.id())));
    drop(quick);
    go.notify_one();
    assert!(matches!(slow.outcome().await, Outcome::Complete(_)));
    while !hub.running().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_that_was_dropped_does_not_show_any_more() {
    let source = FakeSource::new("a").tool("deaf", |_, _| std::future::pending());
    let hub = hub([Arc::new(source)]);
    let run = hub.start(call(client_legacy(), "deaf", json!({})));
    assert_eq!(hub.running().len(), 1);
    drop(run);
    while !hub.running().is_empty() {
        tokio::task::yield_now().await;
    }
}

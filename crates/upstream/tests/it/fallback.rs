//! Servers of the oldest kind, which refuse a handshake in many ways; and servers that only seem to be of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::net::TcpListener;
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::State;

use crate::rig::{Rig, trial, with};
use crate::web::wire::{Asked, Reply, whole};
use crate::web::{Door, Web};

/// A refusal with words of its own, as JSON-RPC has them and otherwise.
const WORDS: &str = "come with a ticket";
const PROPER: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"come with a ticket"}}"#;
const OTHER: &str = r#"{"error":{"message":"come with a ticket"}}"#;

/// A server that refuses all that is sent to it by this status and body, beside what it does otherwise.
async fn refusing(behaviour: &str, status: u16, body: &'static str, got: Arc<AtomicUsize>) -> Web {
    let door: Door = Box::new(move |asked: &Asked| -> Option<Reply> {
        if asked.method == "GET" {
            got.fetch_add(1, Ordering::SeqCst);
        }
        let is_handshake = asked.method == "POST" && asked.path == "/mcp";
        is_handshake.then(|| whole(status, "application/json", body))
    });
    Web::serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), behaviour, Some(door))
}

#[tokio::test]
async fn a_server_of_the_oldest_kind_is_found_by_whatever_it_refuses_others_with() {
    for status in [400, 404, 405, 422] {
        for body in [PROPER, OTHER, "", "no"] {
            let web = refusing("oldest", status, body, Arc::default()).await;
            let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
            rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
            let status_now = rig.status();
            assert_eq!(
                (status_now.state, &*status_now.transport),
                (State::Connected, "sse"),
                "{status} {body}"
            );
            rig.upstream.stop().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_of_that_kind_is_told_by_its_own_words() {
    for (behaviour, status, body, expect) in [
        // No stream at all, and one that leads to nothing.
        ("plain", 400, PROPER, WORDS),
        ("plain", 404, "", "404"),
        ("oldest misled", 405, PROPER, WORDS),
        ("oldest misled", 400, "", "400"),
    ] {
        let web = refusing(behaviour, status, body, Arc::default()).await;
        let report = trial(web.table()).await;
        let error = report.status.error.unwrap();
        assert_eq!(report.status.state, State::Failed, "{behaviour} {status}");
        assert!(error.contains(expect), "{behaviour} {status} {body}: {error}");
    }
    // A stream that leads nowhere.
    let web = refusing("oldest mute", 400, PROPER, Arc::default()).await;
    let table = with(web.table(), json!({"startup_timeout": 2_000}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    let says = |rig: &Rig| rig.status().error.is_some_and(|error| error.contains(WORDS));
    rig.until("it says what was wrong at first", says).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_let_us_in_is_not_taken_for_an_old_one() {
    for (status, state) in [(401, State::NeedsAuth), (403, State::Failed)] {
        for body in [PROPER, ""] {
            let got = Arc::<AtomicUsize>::default();
            let web = refusing("oldest", status, body, got.clone()).await;
            let report = trial(web.table()).await;
            assert_eq!(report.status.state, state, "{status} {body}");
            assert_eq!(got.load(Ordering::SeqCst), 0, "{status} {body}");
        }
    }
}

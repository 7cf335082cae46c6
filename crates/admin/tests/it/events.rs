//! The stream of what changes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use toolgate_admin::{Role, ScriptsGlance};
use toolgate_core::{AskBy, Call, Collection, Principal, Settings, Store as _, Target, Write, local_client};
use toolgate_testkit::FakeGate;
use toolgate_wire::Raw;
use toolgate_wire::sse::Decoder;

use crate::stage::{Stage, User};

/// A stream, event by event.
struct Stream {
    pieces: Receiver<Bytes>,
    decoder: Decoder,
}

impl Stream {
    async fn open(stage: &Stage, user: &User) -> Self {
        let (reply, pieces) = stage.ask("GET", "/events").by(user).open().await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "text/event-stream"));
        Self { pieces: pieces.unwrap(), decoder: Decoder::new(1 << 20) }
    }

    /// The next event; none at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(event) = self.decoder.next() {
                let event = event.unwrap();
                return Some((event.event.unwrap(), serde_json::from_slice(&event.data).unwrap()));
            }
            self.decoder.push(&self.pieces.recv().await?);
        }
    }

    /// Reads on until this event comes.
    async fn until(&mut self, name: &str, holds: impl Fn(&Value) -> bool) -> Value {
        while let Some((found, data)) = self.next().await {
            if found == name && holds(&data) {
                return data;
            }
        }
        panic!("the stream ended before `{name}`");
    }
}

#[tokio::test]
async fn a_stream_begins_with_what_is_so_now_and_tells_what_changes() {
    let stage = Stage::new();
    let user = stage.user(Role::Viewer).await;
    let mut stream = Stream::open(&stage, &user).await;
    let (name, status) = stream.next().await.unwrap();
    assert_eq!((name.as_str(), &status["version"]), ("status", &json!("1.2.3")));
    for (collection, what) in [
        (Collection::Approvals, "approvals"),
        (Collection::Tokens, "tokens"),
        (Collection::Secrets, "secrets"),
        (Collection::Pins, "pins"),
        (Collection::Switches, "upstreams"),
        (Collection::Scripts, "scripts"),
    ] {
        let (id, body) = ("x".to_owned(), "{}".to_owned());
        let write = Write::Insert { collection, id, body, expires_ms: None };
        assert_eq!(stage.store.write(vec![write]).await.unwrap(), toolgate_core::Written::Done);
        stream.until("changed", |data| data["what"] == what).await;
    }
    stage.hub.set_trouble("disk", Some("it is full".into()));
    stream.until("status", |data| data["troubles"]["disk"] == "it is full").await;
}

#[tokio::test]
async fn a_call_that_waited_too_long_is_told_as_a_change() {
    let settings = Settings { ask_by: Arc::from([AskBy::Inbox]), ..Settings::default() };
    let stage = Stage::with(|hub| hub.gate(Box::new(FakeGate::asking("writes"))).settings(settings));
    let user = stage.user(Role::Viewer).await;
    let mut stream = Stream::open(&stage, &user).await;
    let params = Raw::of(&json!({"name": "echo", "arguments": {}}));
    let target = Target::Tool("echo".parse().unwrap());
    let run = stage.hub.start(Call::new(Principal::local(), local_client(), target, params));
    let run = stage.hub.tasks().spawn(run.outcome());
    stream.until("status", |data| data["approvals"] == 1).await;
    // The login must not be over before the call is.
    stage.clock.advance(Duration::from_secs(45 * 60));
    stage.ask("GET", "/session").by(&user).send().await;
    stage.clock.advance(Duration::from_secs(45 * 60));
    let mut changed = Vec::new();
    loop {
        let (name, data) = stream.next().await.expect("the stream goes on");
        if name == "changed" {
            changed.push(data["what"].clone());
        }
        if name == "status" && data["approvals"] == 0 {
            break;
        }
    }
    assert!(changed.contains(&json!("approvals")), "{changed:?}");
    run.abort();
}

#[tokio::test]
async fn a_script_that_changes_in_its_folder_is_told_as_a_change() {
    let stage = Stage::new();
    let user = stage.user(Role::Viewer).await;
    let mut stream = Stream::open(&stage, &user).await;
    stream.until("status", |data| data["scripts"] == 0).await;
    *stage.desk.scripts.lock().unwrap() = ScriptsGlance { waiting: 1, mark: 1 };
    stream.until("changed", |data| data["what"] == "scripts").await;
    stream.until("status", |data| data["scripts"] == 1).await;
    *stage.desk.scripts.lock().unwrap() = ScriptsGlance { waiting: 1, mark: 2 };
    stream.until("changed", |data| data["what"] == "scripts").await;
}

#[tokio::test]
async fn a_stream_ends_with_its_login() {
    let stage = Stage::new();
    let user = stage.user(Role::Viewer).await;
    let mut stream = Stream::open(&stage, &user).await;
    assert_eq!(stage.ask("DELETE", "/session").by(&user).send().await.status, 204);
    stream.until("end", |data| data["what"] == "login").await;
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_stream_ends_with_its_account() {
    let stage = Stage::new();
    let (admin, user) = (stage.admin().await, stage.user(Role::Viewer).await);
    let mut stream = Stream::open(&stage, &user).await;
    assert_eq!(stage.ask("DELETE", "/accounts/viewer1").by(&admin).send().await.status, 204);
    stream.until("end", |data| data["what"] == "login").await;
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn only_so_many_pages_listen_at_once_and_a_place_is_free_again() {
    let stage = Stage::new();
    let user = stage.user(Role::Viewer).await;
    let mut all = Vec::new();
    for _ in 0..64 {
        all.push(Stream::open(&stage, &user).await);
    }
    let reply = stage.ask("GET", "/events").by(&user).send().await;
    assert_eq!((reply.status, reply.problem().as_str()), (429, "too-many"));
    drop(all);
    for _ in 0..6000 {
        if stage.ask("GET", "/events").by(&user).open().await.0.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no place became free");
}

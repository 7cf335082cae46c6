//! The connection to a browser, tried against a peer of our own.

use std::sync::mpsc as std_mpsc;

use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};

use super::*;

const LIMIT: Duration = Duration::from_secs(30);

/// A browser of which this side is held.
struct Peer {
    devtools: Devtools,
    reads: DuplexStream,
    writes: DuplexStream,
    events: std_mpsc::Receiver<String>,
}

fn peer() -> Peer {
    let (ours, writes) = duplex(1 << 20);
    let (reads, theirs) = duplex(1 << 20);
    let (sender, events) = std_mpsc::channel();
    let devtools = Devtools::over((ours, theirs), &Tasks::new(), move |_, event| {
        sender.send(format!("{:?} {} {}", event.session, event.method, event.params())).unwrap();
    });
    Peer { devtools, reads, writes, events }
}

impl Peer {
    async fn says(&mut self, text: &str) {
        self.writes.write_all(text.as_bytes()).await.unwrap();
    }

    async fn hears(&mut self) -> Value {
        let mut bytes = Vec::new();
        loop {
            match self.reads.read_u8().await.unwrap() {
                0 => return serde_json::from_slice(&bytes).unwrap(),
                byte => bytes.push(byte),
            }
        }
    }
}

#[tokio::test]
async fn answers_find_who_waits_for_them_in_any_order() {
    let mut peer = peer();
    let devtools = peer.devtools.clone();
    let one = devtools.call::<Value>(None, ("A.one", json!({})), LIMIT);
    let two = devtools.call::<Value>(Some("s"), ("A.two", json!({"x": 1})), LIMIT);
    let answering = async {
        assert_eq!(peer.hears().await, json!({"id": 1, "method": "A.one", "params": {}}));
        let second = peer.hears().await;
        assert_eq!(second, json!({"id": 2, "method": "A.two", "params": {"x": 1}, "sessionId": "s"}));
        peer.says("{\"id\":2,\"result\":{\"b\":2}}\0{\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\",\"data\":\"why\"}}\0")
            .await;
    };
    let (one, two, ()) = tokio::join!(one, two, answering);
    assert_eq!(one, Err(Unanswered::Refused("no: why".into())));
    assert_eq!(two, Ok(json!({"b": 2})));
}

#[tokio::test]
async fn what_is_not_understood_is_passed_over() {
    let mut peer = peer();
    let odd = "not json\0[]\0{\"id\":77,\"result\":{}}\0{\"method\":\"X.y\"}\0{\"id\":\"x\"}\0\0";
    peer.says(odd).await;
    peer.says(
        "{\"method\":\"New.event\",\"params\":{\"never\":[\"seen\"]},\"sessionId\":\"s\",\"more\":1}\0",
    )
    .await;
    let calling = peer.devtools.clone();
    let call = calling.call::<Value>(None, ("A.b", json!({})), LIMIT);
    let answering = async {
        peer.hears().await;
        peer.says("{\"id\":1}\0").await;
    };
    assert_eq!(tokio::join!(call, answering).0, Ok(json!({})));
    assert_eq!(peer.events.recv().unwrap(), r#"Some("s") New.event {"never":["seen"]}"#);
}

#[tokio::test]
async fn the_end_of_a_browser_ends_all_calls_at_once() {
    let peer = peer();
    let devtools = peer.devtools.clone();
    let waiting = devtools.call::<Value>(None, ("A.b", json!({})), LIMIT);
    let ending = async {
        drop(peer.writes);
        devtools.ended().cancelled().await;
    };
    assert_eq!(tokio::join!(waiting, ending).0, Err(Unanswered::Over));
    assert_eq!(devtools.call::<Value>(None, ("A.b", json!({})), LIMIT).await, Err(Unanswered::Over));
    devtools.tell(None, "A.b", json!({}));
}

#[tokio::test]
async fn a_call_that_is_not_answered_in_time_is_given_up() {
    let peer = peer();
    let late = peer.devtools.call::<Value>(None, ("A.b", json!({})), Duration::from_millis(1)).await;
    assert_eq!(late, Err(Unanswered::Late("A.b")));
    assert_eq!(peer.devtools.0.waiting().as_ref().map(HashMap::len), Some(0));
}

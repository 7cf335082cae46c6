//! Hundreds of servers: few start at once, nobody waits long for the list, and a caller does not wait in line.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_core::{Hub, ListKind};
use toolgate_host::Secret;
use toolgate_testkit::{Expect as _, builder, call, client_legacy, drive, list_names};
use toolgate_upstream::{Plan, Starts, State, Surroundings, Upstream, UpstreamConfig};

use crate::rig::surroundings;

/// How long a test waits for what should come at once. It only turns a hang into a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that says hello when it may: it counts how many start with it, and waits for a word before it answers.
///
/// Each has a file in `place` while it starts; `most` grows by a byte whenever there are more of them than allowed.
const SERVER: &str = r#"
mkdir "$PLACE/starting/$$"; : > "$PLACE/began/$$"
set -- "$PLACE"/starting/*; [ $# -le "$ALLOWED" ] || printf . >> "$PLACE/most"
while [ -n "$WORD" ] && [ ! -e "$PLACE/word" ]; do sleep 0.01; done
while read -r line; do
  id="${line#*\"id\":}"; id="${id%%[,\}]*}"
  case "$line" in
    *'"method":"initialize"'*) rmdir "$PLACE/starting/$$"
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"hi","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id" ;;
  esac
done
"#;

/// A place for the servers to leave their marks in.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["starting", "began"] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
    }
    place
}

fn table(place: &Path, allowed: usize, word: &str) -> Value {
    json!({
        "command": "/bin/sh", "args": ["-c", SERVER], "era": "legacy", "startup_timeout": 120_000,
        "env": {"PLACE": place, "ALLOWED": allowed.to_string(), "WORD": word},
    })
}

fn start(name: &str, table: Value, starts: &Starts) -> Arc<Upstream> {
    let config: UpstreamConfig = serde_json::from_value(table).unwrap();
    let plan = Plan::new(name, &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
    Arc::new(Upstream::start(plan, Surroundings { starts: starts.clone(), ..surroundings() }, None))
}

fn crowd(count: usize, table: &Value, starts: &Starts) -> (Vec<Arc<Upstream>>, Hub) {
    let upstreams: Vec<_> =
        (0..count).map(|number| start(&format!("s{number}"), table.clone(), starts)).collect();
    let hub = builder(upstreams.iter().cloned()).build().unwrap();
    (upstreams, hub)
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

async fn until(what: &str, so: impl Fn() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < limit, "never so: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn stop(upstreams: Vec<Arc<Upstream>>) {
    for upstream in upstreams {
        upstream.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_few_programs_start_at_once_and_all_do() {
    const ALLOWED: usize = 3;
    const SERVERS: usize = 40;
    let place = place();
    let starts = Starts::new(ALLOWED, PATIENCE);
    let (upstreams, _hub) = crowd(SERVERS, &table(place.path(), ALLOWED, ""), &starts);
    until("all are learned", || upstreams.iter().all(|upstream| upstream.status().tools == 1)).await;
    assert!(!place.path().join("most").exists(), "more than {ALLOWED} started at once");
    assert_eq!(files(&place.path().join("began")), SERVERS, "each started once");
    stop(upstreams).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_list_of_hundreds_comes_with_what_is_there() {
    const ALLOWED: usize = 2;
    const SERVERS: usize = 300;
    let place = place();
    // None of those that start says a word, and none makes room.
    let starts = Starts::new(ALLOWED, PATIENCE);
    let begun = Instant::now();
    let (upstreams, hub) = crowd(SERVERS, &table(place.path(), ALLOWED, "wait"), &starts);
    println!("{SERVERS} servers were taken on within {:?}", begun.elapsed());
    let listed = list_names(&hub, ListKind::Tools).await;
    println!("the first list came after {:?}", begun.elapsed());
    assert_eq!(listed, Vec::<String>::new());
    assert!(upstreams.iter().all(|upstream| upstream.status().state == State::Connecting));
    until("the first ones start", || files(&place.path().join("began")) == ALLOWED).await;
    std::fs::write(place.path().join("word"), "").unwrap();
    until("all are learned", || upstreams.iter().all(|upstream| upstream.status().tools == 1)).await;
    println!("all {SERVERS} were learned after {:?}", begun.elapsed());
    assert_eq!(list_names(&hub, ListKind::Tools).await.len(), SERVERS);
    stop(upstreams).await;
}

#[tokio::test]
async fn a_caller_does_not_wait_for_the_turn_of_its_server() {
    let place = place();
    let starts = Starts::new(1, PATIENCE);
    let learned = Upstream::test(
        Plan::new("quick", &serde_json::from_value(table(place.path(), 9, "")).unwrap(), |text| {
            Ok(Secret::new(text.to_owned()))
        })
        .unwrap(),
        surroundings(),
    );
    let kept = learned.await.definitions.unwrap();
    let slow = start("slow", table(place.path(), 9, "wait"), &starts);
    until("the slow one has the only turn", || files(&place.path().join("starting")) == 1).await;
    let config = serde_json::from_value(table(place.path(), 9, "")).unwrap();
    let plan = Plan::new("quick", &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
    let with = Surroundings { starts: starts.clone(), ..surroundings() };
    let quick = Arc::new(Upstream::start(plan, with, Some((*kept).clone())));
    let hub = builder([quick.clone(), slow.clone()]).build().unwrap();
    let called = drive(hub.start(call(client_legacy(), "quick_hi", json!({}))), []);
    tokio::time::timeout(PATIENCE, called).await.expect("it waits in line").complete();
    assert_eq!(slow.status().state, State::Connecting);
    stop(vec![slow, quick]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_listed_is_connected() {
    const TRIALS: usize = 50;
    let place = place();
    for trial in 0..TRIALS {
        let status = crate::rig::trial(table(place.path(), TRIALS, "")).await.status;
        assert_eq!((status.state, status.tools), (State::Connected, 1), "{trial}");
    }
}

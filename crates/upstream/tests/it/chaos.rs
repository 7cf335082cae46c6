//! Many servers that are killed at random while many clients call: no answer is wrong, and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolgate_core::{Hub, Kind, Outcome};
use toolgate_host::{Secret, Tasks};
use toolgate_testkit::{builder, call, client_legacy, client_modern, drive};
use toolgate_upstream::{Plan, Upstream};

use crate::rig::{PATIENCE, alive, fake, surroundings};

const SERVERS: usize = 6;
const CLIENTS: usize = 12;
const CALLS: usize = 40;
const CALLS_A_KILL: usize = 12;

/// What all clients saw.
#[derive(Default)]
struct Seen {
    right: AtomicUsize,
    lost: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_killed_at_random_give_no_wrong_answer() {
    let places: Vec<_> = (0..SERVERS).map(|_| tempfile::tempdir().unwrap()).collect();
    let upstreams: Vec<Arc<Upstream>> =
        (0..SERVERS).map(|number| start(number, places[number].path())).collect();
    let hub = builder(upstreams.iter().cloned()).build().unwrap();
    for upstream in &upstreams {
        while upstream.status().tools == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let (seen, over) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let tasks = Tasks::new();
    let clients: Vec<_> =
        (0..CLIENTS).map(|client| tasks.spawn(calls(hub.clone(), client, seen.clone()))).collect();
    let killed = tasks.spawn(kill(upstreams.clone(), seen.clone(), over.clone()));
    for client in clients {
        client.await.unwrap();
    }
    over.store(true, Ordering::Relaxed);
    let killed = killed.await.unwrap();
    let (right, lost) = (seen.right.load(Ordering::Relaxed), seen.lost.load(Ordering::Relaxed));
    assert_eq!(right + lost, CLIENTS * CALLS);
    assert!(right > 0 && !killed.is_empty(), "{right} right, {lost} lost, {killed:?} killed");
    for number in 0..SERVERS {
        answers_again(&hub, &format!("s{number}_echo")).await;
    }
    let mut processes = killed;
    for upstream in &upstreams {
        processes.extend(upstream.status().processes);
        upstream.stop().await;
    }
    assert!(processes.iter().all(|process| !alive(*process)), "a process is left behind");
}

fn start(number: usize, place: &std::path::Path) -> Arc<Upstream> {
    let behaviour = if number.is_multiple_of(2) { "legacy" } else { "modern" };
    let config = serde_json::from_value(fake(behaviour, place)).unwrap();
    let plan = Plan::new(&format!("s{number}"), &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
    Arc::new(Upstream::start(plan, surroundings(), None))
}

/// Calls tools with arguments that no other call has.
async fn calls(hub: Hub, client: usize, seen: Arc<Seen>) {
    for number in 0..CALLS {
        let word = format!("{client}-{number}");
        let tool = format!("s{}_echo", (client + number) % SERVERS);
        let who = if client.is_multiple_of(2) { client_legacy() } else { client_modern() };
        match drive(hub.start(call(who, &tool, json!({"b": word}))), []).await.outcome {
            Outcome::Complete(raw) => {
                assert_eq!(
                    raw.path(&["structuredContent", "arguments", "b"]).unwrap().as_string().unwrap(),
                    word
                );
                seen.right.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Failed(error) => {
                assert_eq!(error.kind(), Kind::ConnectionFailed, "{error}");
                seen.lost.fetch_add(1, Ordering::Relaxed);
            }
            other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
        }
    }
}

/// Calls a tool until its server is well again.
async fn answers_again(hub: &Hub, tool: &str) {
    let limit = tokio::time::Instant::now() + PATIENCE;
    let again = || call(client_legacy(), tool, json!({"b": ""}));
    while !matches!(drive(hub.start(again()), []).await.outcome, Outcome::Complete(_)) {
        assert!(tokio::time::Instant::now() < limit, "{tool} never answers again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills one server after the other, each after some more calls, and says which processes it killed.
async fn kill(upstreams: Vec<Arc<Upstream>>, seen: Arc<Seen>, over: Arc<AtomicBool>) -> Vec<u32> {
    let mut killed = Vec::new();
    let mut next = CALLS_A_KILL;
    for upstream in upstreams.iter().cycle() {
        if over.load(Ordering::Relaxed) {
            break;
        }
        while seen.right.load(Ordering::Relaxed) + seen.lost.load(Ordering::Relaxed) < next {
            if over.load(Ordering::Relaxed) {
                return killed;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        next += CALLS_A_KILL;
        if let Some(process) = upstream.status().processes.first() {
            let pid = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
            // It may have ended by itself at the same moment.
            if rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok() {
                killed.push(*process);
            }
        }
    }
    killed
}

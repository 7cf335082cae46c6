//! A server that is killed under load, again and again, loses nothing that it has answered and runs nothing twice.
//!
//! `TOOLGATE_KILLED_ROUNDS` kills it more often.

#![expect(clippy::disallowed_methods, reason = "a run can be prolonged from outside")]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::Postgres;

use super::{toolgate, unlimited};
use crate::message;
use crate::process::{Ended, Place, Server, run, until};
use crate::web::Ask;

/// How often it is killed, unless one wants it more often.
const ROUNDS: usize = 12;

/// How much has to be answered in each round before the server is killed: files, and memories that were approved.
const FILES: usize = 20;
const MEMORIES: usize = 1;

const TOML: &str = r#"
[memory]
root = "HOME/m"

[[policy.rules]]
name = "memories"
then = "ask"
targets = ["memory_write"]

[approvals]
wait_seconds = 5

[audit]
arguments = true
"#;

#[test]
fn nothing_answered_is_lost_and_nothing_runs_twice_on_sqlite() {
    check("");
}

#[test]
fn nothing_answered_is_lost_and_nothing_runs_twice_on_postgresql() {
    check(&format!("[store]\nurl = \"{}\"\n", Postgres::shared().database()));
}

/// What the clients share, and what they were told.
struct Load {
    home: PathBuf,
    /// Where the server is, while there is one.
    address: Mutex<Option<SocketAddr>>,
    over: AtomicBool,
    files: Mutex<Vec<String>>,
    memories: Mutex<Vec<String>>,
    /// The approvals that were left alone.
    held: Mutex<Vec<String>>,
    /// Answers that should not have come, and commands that should not have failed.
    wrong: Mutex<Vec<String>>,
}

#[track_caller]
fn check(store: &str) {
    let place = Place::new();
    let home = place.path().to_owned();
    let toml = unlimited(&format!("{store}{}", TOML.replace("HOME", home.to_str().unwrap())));
    std::fs::write(home.join("toolgate.toml"), toml).unwrap();
    std::fs::create_dir(home.join("w")).unwrap();
    let rounds = std::env::var("TOOLGATE_KILLED_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let load = Load::new(home);
    let place = thread::scope(|scope| {
        for client in 0..2 {
            let load = &load;
            scope.spawn(move || load.write_files(client));
            scope.spawn(move || load.remember_lines(client));
        }
        scope.spawn(|| load.approve());
        // However this ends, the clients end, too.
        let _over = Over(&load.over);
        (0..rounds).fold(place, |place, round| load.round(place, round))
    });
    let place = load.last(place, rounds);
    load.compare();
    drop(place);
}

/// Ends the load with itself.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Load {
    fn new(home: PathBuf) -> Self {
        Self {
            home,
            address: Mutex::default(),
            over: AtomicBool::new(false),
            files: Mutex::default(),
            memories: Mutex::default(),
            held: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    /// One life of the server, and what of it is there after its end.
    fn round(&self, place: Place, round: usize) -> Place {
        let server = Server::start_in(place, &["--workspace", "w"]);
        *self.address.lock().unwrap() = Some(server.address);
        if let Some(before) = round.checked_sub(1) {
            self.come_through(server.address, &held(before));
        }
        let asking = remembering(server.address, &held(round)).sent();
        until("the call that is held waits", || self.held.lock().unwrap().len() > round);
        let id = self.held.lock().unwrap()[round].clone();
        let (files, memories) = self.answered();
        until("the load is answered", || {
            let now = self.answered();
            assert!(self.wrong.lock().unwrap().is_empty(), "{:?}", self.wrong);
            now.0 >= files + FILES && now.1 >= memories + MEMORIES
        });
        // Any moment of the calls that are on their way.
        thread::sleep(Duration::from_micros(RandomState::new().hash_one(round) % 50_000));
        let place = server.kill();
        *self.address.lock().unwrap() = None;
        drop(asking);
        let verified = self.command(&["audit", "verify"]);
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
        // The question outlives who asked it.
        let approved = self.command(&["approvals", "approve", &id]);
        assert_eq!(approved.code, 0, "{}", approved.stderr);
        place
    }

    /// The last life: whatever was approved, answered and done before is no longer approved.
    fn last(&self, place: Place, rounds: usize) -> Place {
        let server = Server::start_in(place, &["--workspace", "w"]);
        self.come_through(server.address, &held(rounds - 1));
        let memories = self.memories.lock().unwrap().clone();
        thread::scope(|scope| {
            for line in memories.iter().rev().take(20) {
                let ask = remembering(server.address, line);
                scope.spawn(move || {
                    let answer = ask.send().json();
                    assert!(message::text(&answer).contains("needs a person's approval"), "{line} {answer}");
                });
            }
        });
        server.kill()
    }

    /// Makes a call that was asked about before the server was killed, and approved when there was none.
    fn come_through(&self, address: SocketAddr, line: &str) {
        let answer = remembering(address, line).send().json();
        assert!(is_done(&answer), "{answer}");
        self.memories.lock().unwrap().push(line.into());
    }

    /// Writes one file after the other. What was not answered may be there or not.
    fn write_files(&self, client: usize) {
        for number in 0.. {
            let path = format!("{client}-{number}.txt");
            let Some(address) = self.address() else { return };
            let arguments = json!({"path": path, "content": "new"});
            let call = message::call(number, "workspace_write", arguments);
            match post(address, call).attempt() {
                Some(answer) if is_done(&answer) => self.files.lock().unwrap().push(path),
                Some(answer) => self.wrong.lock().unwrap().push(answer.to_string()),
                None => {}
            }
        }
    }

    /// Remembers one line after the other. A call that was not answered is made again as it was.
    fn remember_lines(&self, client: usize) {
        for number in 0.. {
            let line = format!("line {client}-{number};");
            for _ in 0..3 {
                let Some(address) = self.address() else { return };
                if remembering(address, &line).attempt().is_some_and(|answer| is_done(&answer)) {
                    self.memories.lock().unwrap().push(line);
                    break;
                }
            }
        }
    }

    /// Approves each call that waits, once and no more, but for those that are held.
    fn approve(&self) {
        let mut seen = HashSet::new();
        while self.address().is_some() {
            for (id, arguments) in self.questions() {
                if !seen.insert(id.clone()) {
                    continue;
                }
                if arguments.contains("held") {
                    self.held.lock().unwrap().push(id);
                    continue;
                }
                let ended = self.command(&["approvals", "approve", &id]);
                if ended.code != 0 {
                    self.wrong.lock().unwrap().push(ended.stderr);
                }
            }
        }
    }

    /// The calls that wait for a person: their ids and arguments.
    fn questions(&self) -> Vec<(String, String)> {
        let listed = self.command(&["approvals", "list", "--json"]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let items = listed["items"].as_array().unwrap();
        items.iter().map(|item| (word(&item["id"]), word(&item["arguments"]))).collect()
    }

    fn command(&self, arguments: &[&str]) -> Ended {
        run(toolgate(&self.home, arguments), b"")
    }

    /// Where the server is, once there is one; nothing when the load is over.
    fn address(&self) -> Option<SocketAddr> {
        while !self.over.load(Ordering::Relaxed) {
            if let Some(address) = *self.address.lock().unwrap() {
                return Some(address);
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }

    fn answered(&self) -> (usize, usize) {
        (self.files.lock().unwrap().len(), self.memories.lock().unwrap().len())
    }

    /// Compares what the clients were told with the files and the record that are left.
    fn compare(&self) {
        let exported = self.command(&["audit", "export"]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        let records = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let done: Vec<Value> = records.filter(|record: &Value| record["outcome"] == "complete").collect();
        let recorded = |key: &str| {
            count(done.iter().filter_map(|record| record["arguments"]["arguments"][key].as_str()))
        };
        let paths = recorded("path");
        for path in &*self.files.lock().unwrap() {
            assert!(self.home.join("w").join(path).exists(), "`{path}` is lost");
            assert_eq!(paths.get(path.as_str()), Some(&1), "the record of `{path}`");
        }
        let memory = std::fs::read_to_string(self.home.join("m/MEMORY.md")).unwrap();
        let (lines, contents) = (count(memory.lines()), recorded("content"));
        for line in &*self.memories.lock().unwrap() {
            assert_eq!(lines.get(line.as_str()), Some(&1), "`{line}` in the memory");
            assert_eq!(contents.get(line.as_str()), Some(&1), "the record of `{line}`");
        }
        let twice: Vec<_> = lines.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "approved once, done twice: {twice:?}");
        let approvers = done.iter().filter(|record| record["rule"] == "memories");
        assert!(approvers.into_iter().all(|record| record["approver"].is_string()), "approved by nobody");
    }
}

/// The line of a call that is asked about in one life of the server and answered before the next.
fn held(round: usize) -> String {
    format!("held {round};")
}

fn remembering(address: SocketAddr, line: &str) -> Ask {
    post(address, message::call(1, "memory_write", json!({"content": line, "append": true})))
}

fn post(address: SocketAddr, call: String) -> Ask {
    Ask::new(address, "POST", "/mcp").body(call)
}

fn is_done(answer: &Value) -> bool {
    answer["result"]["isError"] == false
}

fn count<'a>(words: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    words.fold(HashMap::new(), |mut counted, word| {
        *counted.entry(word).or_default() += 1;
        counted
    })
}

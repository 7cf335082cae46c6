//! Fifty servers behind the binary, most of them killed, stopped and misbehaving at random, while many clients call:
//! no answer is wrong or lost, nothing is done twice, and nothing is left behind.
//!
//! `TOOLGATE_CHAOS_SEED` repeats a run as far as chance goes, `TOOLGATE_CHAOS_SECONDS` makes it longer.

#![expect(clippy::disallowed_methods, reason = "a run can be repeated and prolonged from outside")]

mod client;
mod dice;
mod fake;
mod herd;
mod trouble;

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::message::request;
use crate::process::{PATIENCE, Place, Server, unlimited, until};
use client::{Client, Seen};
use dice::Dice;
use herd::{Fake, Herd, Process};

const CLIENTS: u64 = 32;
const ROUND: u64 = 10;

/// Half a minute: what the first round leaves is what the last is measured by.
const ROUNDS: u64 = 3;

/// What the server holds when nobody calls.
#[derive(Debug)]
struct Holds {
    sockets: usize,
    /// Pipes, files and processes.
    others: usize,
    megabytes: usize,
}

/// How much more it may hold after the last round than after the first, at the latest when it has put away what it keeps
/// for a while: 50 sockets and 20 MB come and go from round to round. One socket lost in a hundred calls would be more.
const MORE_SOCKETS: usize = 40;
const MORE_MEGABYTES: usize = 40;

/// For a child it holds three pipes and the process, and little besides, however often all of them were replaced.
const FOR_A_CHILD: usize = 4;
const BESIDES: usize = 30;

impl Holds {
    fn of(process: u32) -> Self {
        let opened = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        // One may be closed while they are looked at.
        let opened = opened.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        let (sockets, others): (Vec<_>, Vec<_>) =
            opened.partition(|target| target.to_string_lossy().starts_with("socket:"));
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kilobytes: usize = resident.trim().trim_end_matches(" kB").parse().unwrap();
        Self { sockets: sockets.len(), others: others.len(), megabytes: kilobytes / 1024 }
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn fifty_servers_in_trouble_give_no_wrong_answer_and_leave_nothing_behind() {
    let seed = number("TOOLGATE_CHAOS_SEED", RandomState::new().hash_one(()) % 1_000_000);
    let rounds = (number("TOOLGATE_CHAOS_SECONDS", ROUNDS * ROUND) / ROUND).max(2);
    println!("TOOLGATE_CHAOS_SEED={seed}, {rounds} rounds of {ROUND} s");
    let herd = Herd::new();
    let toml = unlimited(&format!("packs = []\n{}", herd.toml()));
    let server = Server::start_in(Place::configured(&toml), &[]);
    until("all servers are known", || {
        let list = server.post(request(1, "tools/list", &json!({}))).send().json();
        list["result"]["tools"].as_array().unwrap().len() == 2 * herd::SERVERS
    });
    let seen = Seen::default();
    let mut held = Vec::new();
    for round in 0..rounds {
        let stage = Stage { server: &server, herd: &herd, seen: &seen, seed, round };
        held.push(stage.chaos());
        println!("{seen}; then {:?}", held[held.len() - 1]);
    }
    judge(&seen, &herd);
    settle(&held, server.running.id());
    assert!(!server.log().contains("panicked"), "{}", server.log());
    server.running.terminate();
    let mut server = server;
    assert_eq!(server.running.code(), Some(0));
    until("no process is left", || herd.processes().is_empty());
}

/// Where a round takes place.
struct Stage<'a> {
    server: &'a Server,
    herd: &'a Herd,
    seen: &'a Seen,
    seed: u64,
    round: u64,
}

impl<'a> Stage<'a> {
    fn dice(&self, which: u64) -> Dice {
        Dice::new(self.seed, self.unique(which))
    }

    fn unique(&self, which: u64) -> u64 {
        self.round * 100 + which
    }

    fn client(&self, which: u64) -> Client<'a> {
        Client::new(self.unique(which), self.server.post(""), self.dice(which), self.herd, self.seen)
    }

    /// A round of trouble, after which all servers get well. Says what the server then holds.
    fn chaos(&self) -> Holds {
        let over = AtomicBool::new(false);
        let most = thread::scope(|scope| {
            for which in 0..CLIENTS {
                let (mut client, over) = (self.client(which), &over);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        client.go();
                    }
                });
            }
            let trouble = scope.spawn(|| trouble::make(self.herd, self.dice(CLIENTS), &over));
            thread::sleep(Duration::from_secs(ROUND));
            // A slow machine needs longer for as much to happen.
            let begun = Instant::now();
            while !self.seen.is_enough(self.round + 1) && begun.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(50));
            }
            over.store(true, Ordering::Relaxed);
            trouble.join().unwrap()
        });
        let connections = self.herd.connections();
        // One that is being ended may still be there when the next one is.
        assert!(most <= 2 * connections, "{most} processes for {connections} connections");
        self.heal();
        let in_order = |processes: &[Process]| {
            servers(processes) <= connections
                && processes.iter().all(|process| process.is_server || process.belongs(processes))
        };
        let begun = Instant::now();
        while let processes = self.herd.processes()
            && !in_order(&processes)
        {
            assert!(begun.elapsed() < PATIENCE, "left over, with {connections} connections: {processes:#?}");
            thread::sleep(Duration::from_millis(50));
        }
        let id = self.server.running.id();
        until("no child is left unburied", || herd::unburied(id) == 0);
        let most = FOR_A_CHILD * connections + BESIDES;
        until("no pipe and no file is left over", || Holds::of(id).others <= most);
        Holds::of(id)
    }

    /// Calls every server until it answers again.
    fn heal(&self) {
        thread::scope(|scope| {
            for (which, some) in (CLIENTS + 1..).zip(self.herd.all.chunks(8)) {
                let mut client = self.client(which);
                scope.spawn(move || some.iter().for_each(|fake| answers_again(fake, &mut client)));
            }
        });
    }
}

fn servers(processes: &[Process]) -> usize {
    processes.iter().filter(|process| process.is_server).count()
}

fn answers_again(fake: &Fake, client: &mut Client<'_>) {
    let begun = Instant::now();
    while let Err(answer) = client.call(fake, "") {
        assert!(begun.elapsed() < PATIENCE, "`{}` never answers again, but {answer}", fake.name);
        // One over HTTP may have been told to die at the very end.
        fake.start();
        thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until the server holds hardly more than it did after the first round.
fn settle(held: &[Holds], process: u32) {
    let (first, begun) = (&held[0], Instant::now());
    loop {
        let now = Holds::of(process);
        if now.sockets < first.sockets + MORE_SOCKETS && now.megabytes < first.megabytes + MORE_MEGABYTES {
            return println!("at last {now:?}");
        }
        assert!(begun.elapsed() < PATIENCE, "{held:?}, and at last {now:?}");
        thread::sleep(Duration::from_millis(500));
    }
}

fn judge(seen: &Seen, herd: &Herd) {
    let wrong = seen.wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{} wrongs:\n{}", wrong.len(), wrong.join("\n"));
    let mut done = HashSet::new();
    let mut acts = HashSet::new();
    for fake in &herd.all {
        for line in std::fs::read_to_string(fake.place.join("calls")).unwrap().lines() {
            let (tool, nonce) = line.split_once(' ').unwrap();
            assert!(tool != "act" || acts.insert(nonce.to_owned()), "{nonce} was done twice");
            done.insert(nonce.to_owned());
        }
    }
    let nonces = seen.nonces.lock().unwrap();
    assert!(nonces.iter().all(|nonce| done.contains(nonce)), "an answer without a call");
    assert!(seen.is_enough(2), "too little happened: {seen}");
}

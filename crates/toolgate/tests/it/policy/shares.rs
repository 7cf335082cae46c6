//! What several principals get of one server: equal shares of its places, and tokens of their own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::Desk;
use super::tokens::{create, status};
use crate::message::{call, text};
use crate::process::until;

/// Principals, and how many clients each has.
const CLIENTS: [(&str, usize); 4] = [("alone", 1), ("few", 9), ("some", 40), ("many", 150)];

/// How many calls each client has under way, and each principal at least. With one, a client could not use its share:
/// it would have to line up again before the next place becomes free, however busy the machine.
const AT_ONCE: usize = 2;
const AT_LEAST: usize = 40;

/// How many calls are counted, when so many are over: until all clients have lined up, who is there first has more.
const CALLS: usize = 400;
const BEFORE: usize = 200;

#[test]
fn two_hundred_clients_of_four_principals_get_equal_shares() {
    let toml =
        "[http]\nrequire_token = true\n[limits]\n[limits.sources.fixtures]\nconcurrent = 4\nqueue = 500\n";
    let desk = Desk::start_with(toml, &["--fixtures"]);
    let tokens = CLIENTS.map(|(principal, _)| create(&desk, &[principal]).0);
    until("the tokens are known", || tokens.iter().all(|token| status(&desk, token) == 200));
    let (done, refused) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let shares = [const { AtomicUsize::new(0) }; CLIENTS.len()];
    thread::scope(|scope| {
        for (place, (_, clients)) in CLIENTS.into_iter().enumerate() {
            let slow = desk.server.post(call(1, "test_slow", json!({"seconds": 0.04})));
            let slow = slow.header("Authorization", format!("Bearer {}", tokens[place]));
            for _ in 0..(clients * AT_ONCE).max(AT_LEAST) {
                let (slow, share, done, refused) = (slow.clone(), &shares[place], &done, &refused);
                scope.spawn(move || {
                    while let Some(answer) = slow.attempt() {
                        if !text(&answer).starts_with("Slept") {
                            return refused.lock().unwrap().push(answer);
                        }
                        if (BEFORE..BEFORE + CALLS).contains(&done.fetch_add(1, Ordering::Relaxed)) {
                            share.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        }
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until("enough calls are done", || {
                assert!(refused.lock().unwrap().is_empty(), "{refused:?}");
                done.load(Ordering::Relaxed) >= BEFORE + CALLS
            });
        }));
        // Those who still wait need not be served.
        desk.server.running.signal(Signal::KILL);
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    let shares = shares.map(AtomicUsize::into_inner);
    let equal = CALLS / CLIENTS.len();
    let fair = equal - equal / 5..=equal + equal / 5;
    assert!(shares.iter().all(|share| fair.contains(share)), "{shares:?} of {CALLS}");
}

#[test]
fn nobody_uses_up_the_tokens_of_another_and_a_denied_call_costs_none() {
    let desk = Desk::start(
        r#"
[http]
require_token = true

[limits]
rate = 0.001
burst = 5

[[policy.rules]]
name = "no-env"
then = "deny"
when = 'args.path == ".env"'
"#,
    );
    let [alice, bob] = ["alice", "bob"].map(|principal| create(&desk, &[principal]).0);
    until("the tokens are known", || [&alice, &bob].iter().all(|token| status(&desk, token) == 200));
    let read = |token: &str, path: &str| -> Value {
        let ask = desk.server.post(call(1, "workspace_read", json!({"path": path})));
        ask.header("Authorization", format!("Bearer {token}")).send().json()
    };
    for token in [&alice, &bob] {
        for _ in 0..20 {
            let denied = read(token, ".env");
            assert!(text(&denied).contains("`no-env`"), "{denied}");
        }
        for _ in 0..5 {
            assert_eq!(text(&read(token, "a.txt")), "first");
        }
        assert_eq!(read(token, "a.txt")["error"]["code"], -32000);
    }
    assert_eq!(read(&alice, "a.txt")["error"]["code"], -32000, "what bob did gave alice nothing");
}

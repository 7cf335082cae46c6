//! What keeps servers at work: they come back, are asked again in time, and nothing fails that could be repeated.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolgate_core::{Call, Capabilities, Principal, Target};
use toolgate_testkit::{Expect as _, call, client_legacy, client_with, drive};
use toolgate_upstream::State;
use toolgate_wire::{Raw, Version};

use crate::rig::{BEYOND, PATIENCE, Rig, alive, fake, pass, trial, with};
use crate::rogue::rogue;
use crate::web::Web;

const ROUNDS: usize = 10;

/// The middle and the longest of some times, for people to read.
fn shown(mut times: Vec<Duration>) -> String {
    times.sort();
    format!("{:?} in the middle, {:?} at most", times[times.len() / 2], times[times.len() - 1])
}

fn kill(process: u32) {
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_killed_program_is_back_and_no_call_fails_that_may_be_repeated() {
    let place = Arc::new(tempfile::tempdir().unwrap());
    let rig = Rig::of(rogue("", place.path()), place, None);
    let echo = async || rig.call(client_legacy(), "fake_echo", json!({}), None).await.complete();
    echo().await;
    // The program it was learned by, and the caller's own.
    rig.until("one runs", |rig| rig.status().processes.len() == 1).await;
    let mut times = Vec::new();
    for round in 1..=ROUNDS {
        let process = rig.status().processes[0];
        kill(process);
        let killed = Instant::now();
        // It comes at once, before anybody has noticed that the program is gone.
        echo().await;
        times.push(killed.elapsed());
        assert!(!alive(process));
        assert_eq!((rig.status().lost, rig.count("started")), (round as u64, round + 2));
    }
    println!("a killed program answered again after: {}", shown(times));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_killed_program_that_nobody_calls_is_back_by_itself() {
    let rig = Rig::shaped("legacy", json!({"start": "eager"}));
    rig.until("it runs", |rig| rig.status().processes.len() == 1 && rig.status().tools > 0).await;
    let process = rig.status().processes[0];
    kill(process);
    let killed = Instant::now();
    let is_new = |rig: &Rig| rig.status().processes.first().is_some_and(|other| *other != process);
    rig.until("another runs", is_new).await;
    println!("a killed program was back after: {:?}", killed.elapsed());
    assert_eq!((rig.status().state, rig.status().lost, rig.count("started")), (State::Connected, 1, 2));
    rig.upstream.stop().await;
}

/// A call that waits for a program to start, and one that waits for its answer: neither is repeated on another program.
#[tokio::test]
async fn nothing_is_started_again_for_calls_of_a_server_that_was_switched_off() {
    let place = Arc::new(tempfile::tempdir().unwrap());
    let go = place.path().join("go");
    std::fs::write(&go, "").unwrap();
    let table = fake("legacy held", place.path());
    let kept = trial(table.clone()).await.definitions.as_deref().cloned();
    let hanging = Call::new(
        Principal::local(),
        client_legacy(),
        Target::Resource("fake://t/hang".into()),
        Raw::of(&json!({"uri": "fake://t/hang"})),
    );
    let change = call(client_legacy(), "fake_change", json!({"b": ""}));
    for (call, is_held, begun) in [(change, true, "started"), (hanging, false, "hung")] {
        let rig = Rig::of(table.clone(), place.clone(), kept.clone());
        if is_held {
            std::fs::remove_file(&go).unwrap();
        }
        let before = rig.count(begun);
        let run = rig.hub.start(call);
        rig.until("it has begun", |rig| rig.count(begun) > before).await;
        let started = rig.count("started");
        rig.upstream.set_enabled(false);
        std::fs::write(&go, "").unwrap();
        let error = tokio::time::timeout(PATIENCE, drive(run, [])).await.expect("the call hangs").failed();
        assert_eq!(error.message(), "`fake` is switched off", "{begun}");
        assert_eq!((rig.count("started"), rig.count("changed")), (started, 0), "{begun}");
        rig.upstream.restart();
        rig.upstream.stop().await;
        assert_eq!(rig.count("started"), started, "{begun}");
    }
}

#[tokio::test]
async fn an_upstream_that_is_replaced_answers_what_is_under_way() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let run = rig.hub.start(call(client_legacy(), "fake_progress", json!({"b": "slow"})));
    rig.until("the server has the call", |rig| rig.count("progressing") == 1).await;
    let processes = rig.status().processes;
    let answered = async {
        pass(1).await;
        for step in 1..=3 {
            std::fs::write(rig.place.path().join(format!("go-{step}")), "").unwrap();
        }
        drive(run, []).await.complete()
    };
    tokio::join!(rig.upstream.retire(), answered);
    assert!(processes.into_iter().all(|process| !alive(process)));
    // One that never answers is waited for no longer than an answer may take.
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let run = rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": ""})));
    rig.until("the server has the call", |rig| rig.count("hung") == 1).await;
    tokio::join!(rig.upstream.retire(), pass(BEYOND));
    drive(run, []).await.failed();
    // Nor does one that comes later wait for what is not there any more.
    let late = rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.failed();
    assert_eq!(late.message(), "`fake` is not here any more");
}

#[tokio::test]
async fn a_forgotten_session_costs_one_greeting_and_no_call() {
    let web = Web::start("legacy").await;
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    let mut times = Vec::new();
    for round in 1..=ROUNDS {
        let greeted = web.seen.initialized.load(Ordering::SeqCst);
        web.seen.forget();
        let forgotten = Instant::now();
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        times.push(forgotten.elapsed());
        assert_eq!(web.seen.initialized.load(Ordering::SeqCst), greeted + 1, "{round}");
    }
    println!("a forgotten session was healed after: {}", shown(times));
    rig.upstream.stop().await;
}

/// Without a stream of its own, only what is asked of it shows that a server was started anew.
#[tokio::test]
async fn a_forgotten_session_is_noticed_by_whatever_is_asked_first() {
    let web = Web::start("legacy streamless").await;
    let table = with(web.table(), json!({"start": "eager"}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    // It can be asked nothing, so that the line by which the server was learned is its own.
    let client = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let watch = async || {
        let target = Target::Subscribe("fake://one".into());
        rig.send(client.clone(), target, json!({"uri": "fake://one"})).await.complete()
    };
    watch().await;
    let greeted = || web.seen.initialized.load(Ordering::SeqCst);
    assert_eq!(greeted(), 1);
    web.seen.forget();
    let unwatch = Target::Unsubscribe("fake://one".into());
    rig.send(client.clone(), unwatch, json!({"uri": "fake://one"})).await;
    watch().await;
    assert_eq!((greeted(), rig.status().state), (2, State::Connected));
    web.seen.forget();
    pass(3_650).await;
    rig.until("it is greeted again", |_| greeted() == 3).await;
    rig.until("it is listed again", |_| web.seen.lists.load(Ordering::SeqCst) == 3).await;
    assert_eq!((rig.status().state, rig.status().error), (State::Connected, None));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_a_server_has_is_asked_again_each_hour_or_when_the_server_says() {
    // A legacy server is listed by the line it was learned by, and again by the caller's own.
    for (behaviour, first, early, late) in
        [("legacy", 2, 3_500, 150), ("modern", 1, 3_500, 150), ("modern short-lived", 1, 100, 30)]
    {
        let web = Web::start(behaviour).await;
        let table = with(web.table(), json!({"start": "eager"}));
        let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
        let lists = || web.seen.lists.load(Ordering::SeqCst);
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        rig.until("it is listed", |_| lists() == first).await;
        pass(early).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        assert_eq!(lists(), first, "{behaviour}: too early");
        pass(late).await;
        rig.until("it is listed again", |_| lists() == first + 1).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_idle_server_elsewhere_is_asked_again_too() {
    let web = Web::start("modern").await;
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    pass(60).await;
    rig.until("it is let go", |rig| rig.status().connections == 0).await;
    let before = web.seen.lists.load(Ordering::SeqCst);
    pass(3_600).await;
    rig.until("it is listed again", |_| web.seen.lists.load(Ordering::SeqCst) > before).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn an_idle_program_is_not_started_only_to_be_asked() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    pass(60).await;
    rig.until("it is let go", |rig| rig.status().connections == 0).await;
    pass(3_700).await;
    // It would have been started by now: the first thing that is asked of it does so.
    rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
    assert_eq!(rig.count("started"), 2);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_or_to_list_is_waited_for_and_started_once() {
    for behaviour in ["legacy slow-start", "legacy slow-list"] {
        let web = Web::start(behaviour).await;
        let table = with(web.table(), json!({"timeout": 600_000, "startup_timeout": 600_000}));
        let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
        rig.until("it is asked", |_| web.seen.waiting.load(Ordering::SeqCst) == 1).await;
        pass(11).await;
        web.seen.go.notify_one();
        rig.until("it is learned", |rig| rig.status().tools > 0).await;
        let asked = [&web.seen.initialized, &web.seen.lists].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(asked, [1, 1], "{behaviour}");
        pass(11).await;
        rig.until("it is let go", |rig| rig.status().connections == 0).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_is_switched_off_while_it_is_slow_to_list() {
    let web = Web::start("legacy slow-list").await;
    let table = with(web.table(), json!({"timeout": 600_000, "start": "eager"}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    rig.until("it is asked", |_| web.seen.waiting.load(Ordering::SeqCst) == 1).await;
    rig.upstream.set_enabled(false);
    rig.until("it is let go", |_| web.seen.deleted.load(Ordering::SeqCst) == 1).await;
    rig.settled().await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn lists_without_end_are_given_up() {
    let web = Web::start("legacy slow-list endless-list").await;
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    for page in 1..=40 {
        let asked = || web.seen.waiting.load(Ordering::SeqCst) >= page;
        rig.until("a page is asked for", |rig| asked() || rig.status().state == State::Failed).await;
        pass(5).await;
        web.seen.go.notify_one();
    }
    assert_eq!(rig.status().error.as_deref(), Some("cannot be listed: no answer within 180000 ms"));
    rig.upstream.stop().await;
}

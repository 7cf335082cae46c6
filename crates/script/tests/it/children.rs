//! Which child serves whom, seen from outside.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_core::{Call, Event, Kind, Outcome, Principal, Target, Verdict};
use toolgate_testkit::{FakeGate, client_legacy};
use toolgate_wire::Raw;

use crate::scene::Scene;

/// How much memory the children of these tests may use. No other test has such, so they can be told by it.
const SERVING: u64 = 131;
const CANCELLED: u64 = 132;

/// How long is waited for anything, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

/// The children of this process with so much memory that live. The same tests may run elsewhere on this machine.
fn children(megabytes: u64) -> BTreeSet<u32> {
    let limit = (megabytes << 20).to_string();
    let parent = format!("PPid:\t{}\n", std::process::id());
    let is_ours = |id: &u32| {
        // One that has ended has no words any more.
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next().is_some_and(|program| program.ends_with(b"script-child"))
            && words.next() == Some(limit.as_bytes())
            && fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default().contains(&parent)
    };
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(is_ours).collect()
}

/// The children, once there are so many.
async fn settled(megabytes: u64, count: usize) -> BTreeSet<u32> {
    let begun = Instant::now();
    loop {
        let now = children(megabytes);
        if now.len() == count {
            return now;
        }
        assert!(begun.elapsed() < PATIENCE, "there are {now:?}, and not {count}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for the task that made a child beforehand: the child is there a little before the task has ended.
async fn one_task_is_left(scene: &Scene) {
    let begun = Instant::now();
    while scene.tasks.len() > 1 {
        assert!(begun.elapsed() < PATIENCE, "there are {} tasks", scene.tasks.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_child_serves_one_principal_and_never_again_after_an_error() {
    let scene = Scene::set(|config| config.max_memory_mb = SERVING);
    scene.approved("fine.star", "result = 1").await;
    scene.approved("bad.star", "fail('no')").await;
    let run = async |who: &str, name: &str| {
        drop(scene.call_as(who, "script_run", json!({"name": name})).await);
    };
    run("ada", "fine").await;
    // Hers, and one that stands ready for whoever comes next.
    let first = settled(SERVING, 2).await;
    for _ in 0..3 {
        run("ada", "fine").await;
        assert_eq!(children(SERVING), first);
    }
    run("grace", "fine").await;
    let second = settled(SERVING, 3).await;
    assert!(second.is_superset(&first));
    run("ada", "bad").await;
    let third = settled(SERVING, 2).await;
    assert!(third.is_subset(&second));
    // What is left is the one of `grace` and the one that stands ready, which is now taken.
    run("ada", "fine").await;
    let fourth = settled(SERVING, 3).await;
    assert!(fourth.is_superset(&third));
    run("grace", "fine").await;
    assert_eq!(children(SERVING), fourth);
    // Looking at the folder again ends nobody's child, and however many scripts ran, one task looks after the children.
    run("ada", "fine").await;
    one_task_is_left(&scene).await;
    for _ in 0..5 {
        run("ada", "fine").await;
    }
    drop(scene.call_as("mallory", "script_reload", json!({})).await);
    assert_eq!((children(SERVING), scene.tasks.len()), (fourth, 1));
}

#[tokio::test]
async fn a_run_that_is_cancelled_ends_its_child() {
    // What the script waits for is a person, who is asked: then it runs for sure.
    let gate = FakeGate::new(|judged| match judged.call.target.name() {
        "echo_data" => Verdict::Ask("it is data".into()),
        _ => Verdict::Pass,
    });
    let scene =
        Scene::with(|config| config.max_memory_mb = CANCELLED, |builder| builder.gate(Box::new(gate)));
    scene.approved("long.star", "# @tools: *\ntools.call('echo_data')").await;
    let params = Raw::of(&json!({"name": "script_run", "arguments": {"name": "long"}}));
    let target = Target::Tool("script_run".parse().unwrap());
    let mut run = scene.hub.start(Call::new(Principal::named("ada"), client_legacy(), target, params));
    let asked = loop {
        match run.next().await.unwrap() {
            Event::Ask(ask) => break ask,
            Event::Done(outcome) => panic!("{outcome:?}"),
            Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
        }
    };
    let both = settled(CANCELLED, 2).await;
    run.cancel();
    let Outcome::Failed(error) = run.outcome().await else { panic!("it ended well") };
    assert_eq!(error.kind(), Kind::Cancelled, "{error}");
    // What is left is the one that stands ready.
    assert!(settled(CANCELLED, 1).await.is_subset(&both));
    drop(asked);
}

//! Which child serves whom, seen from outside.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::scene::Scene;

/// How much memory the children of this test may use. No other test has such, so they can be told by it.
const MEGABYTES: u64 = 131;

/// How long is waited for anything, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

/// The children that live.
fn children() -> BTreeSet<u32> {
    let limit = (MEGABYTES << 20).to_string();
    let is_ours = |id: &u32| {
        // One that has ended has no words any more.
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next().is_some_and(|program| program.ends_with(b"script-child"))
            && words.next() == Some(limit.as_bytes())
    };
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(is_ours).collect()
}

/// The children, once there are so many.
async fn settled(count: usize) -> BTreeSet<u32> {
    let begun = Instant::now();
    loop {
        let now = children();
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
    let scene = Scene::set(|config| config.max_memory_mb = MEGABYTES);
    scene.approved("fine.star", "result = 1").await;
    scene.approved("bad.star", "fail('no')").await;
    let run = async |who: &str, name: &str| {
        drop(scene.call_as(who, "script_run", json!({"name": name})).await);
    };
    run("ada", "fine").await;
    // Hers, and one that stands ready for whoever comes next.
    let first = settled(2).await;
    for _ in 0..3 {
        run("ada", "fine").await;
        assert_eq!(children(), first);
    }
    run("grace", "fine").await;
    let second = settled(3).await;
    assert!(second.is_superset(&first));
    run("ada", "bad").await;
    let third = settled(2).await;
    assert!(third.is_subset(&second));
    // What is left is the one of `grace` and the one that stands ready, which is now taken.
    run("ada", "fine").await;
    let fourth = settled(3).await;
    assert!(fourth.is_superset(&third));
    run("grace", "fine").await;
    assert_eq!(children(), fourth);
    // Looking at the folder again ends nobody's child, and however many scripts ran, one task looks after the children.
    run("ada", "fine").await;
    one_task_is_left(&scene).await;
    for _ in 0..5 {
        run("ada", "fine").await;
    }
    drop(scene.call_as("mallory", "script_reload", json!({})).await);
    assert_eq!((children(), scene.tasks.len()), (fourth, 1));
}

//! Old records go, and the chains stay verifiable.

use std::time::Duration;

use toolgate_audit::{Archive, AuditConfig};
use toolgate_core::{AuditRow, Store as _};
use toolgate_testkit::MemoryStore;

use crate::scene::{Process, Scene};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn process(scene: &Scene) -> Process {
    scene.process_with(AuditConfig { keep_days: 10, ..AuditConfig::default() }, 1 << 20)
}

/// A process that records something, and lives until its rounds are done.
async fn day(scene: &Scene) {
    let process = process(scene);
    process.record(3);
    tokio::time::sleep(Duration::from_secs(30)).await;
    process.end().await;
    scene.clock.advance(DAY);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_old_goes_and_the_record_says_so() {
    let scene = Scene::new();
    let long = process(&scene);
    long.record(4);
    tokio::time::sleep(Duration::from_secs(30)).await;
    scene.clock.advance(9 * DAY);
    long.record(2);
    scene.clock.advance(2 * DAY);
    day(&scene).await;
    // Neither does a file keep them that is written to for long.
    tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
    let report = scene.verify().await;
    let writer = long.audit.state().writer;
    let chain = report.chains.iter().find(|chain| chain.writer == writer).unwrap();
    assert!(report.ok && chain.first == Some(5) && chain.pruned_on_ms.is_some(), "{report}");
    assert!(report.to_string().contains("begins at record 5, older ones pruned on 2027-"), "{report}");
    assert_eq!(report.prunings.len(), 1);
    long.end().await;
    assert!(scene.verify().await.ok);
}

#[tokio::test(start_paused = true)]
async fn chains_stay_verifiable_for_as_long_as_there_are_calls() {
    let scene = Scene::new();
    for n in 0..45 {
        day(&scene).await;
        let report = scene.verify().await;
        assert!(report.ok, "day {n}: {report}");
        assert_eq!(report.chains.len(), n + 1);
    }
    // Of each old chain one record is left, and the young ones are whole.
    let rows = scene.rows().await;
    assert!(rows.len() < 45 + 10 * 8, "{}", rows.len());
}

#[tokio::test(start_paused = true)]
async fn a_beginning_that_is_gone_without_a_pruning_is_missed() {
    let scene = Scene::new();
    for _ in 0..12 {
        day(&scene).await;
    }
    let rows = scene.rows().await;
    let report = scene.verify().await;
    let pruned = report.chains.iter().filter(|chain| chain.pruned_on_ms.is_some()).count();
    assert!(report.ok && pruned > 0 && pruned < 12, "{report}");
    for chain in &report.chains {
        let first = chain.first.unwrap();
        if chain.records < 2 {
            continue;
        }
        let cut = |row: &&AuditRow| row.writer != chain.writer || row.sequence.cast_unsigned() > first;
        let store = MemoryStore::new();
        store.append_audit(rows.iter().filter(cut).cloned().collect()).await.unwrap();
        let archive = Archive::new(std::sync::Arc::new(store), scene.place.path());
        let report = archive.verify(&[]).await.unwrap();
        assert!(!report.ok && report.to_string().contains("no pruning says so"), "{report}");
    }
}

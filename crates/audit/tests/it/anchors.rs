//! Chains vouch for each other: what one named cannot vanish from another.

use std::sync::Arc;

use toolgate_audit::{Archive, Head, Report};
use toolgate_core::{AuditRow, Store as _};
use toolgate_testkit::MemoryStore;

use crate::scene::Scene;

/// A chain that ended, and one that began afterwards and named its head.
struct Two {
    scene: Scene,
    /// Everything that is in the store.
    rows: Vec<AuditRow>,
    old: String,
    new: String,
}

impl Two {
    async fn new() -> Self {
        let scene = Scene::new();
        let process = scene.process();
        process.record(5);
        let old = process.audit.state().writer;
        process.end().await;
        let process = scene.process();
        process.record(1);
        let new = process.audit.state().writer;
        scene.until(|rows| rows.iter().any(|row| row.target == "audit:anchors")).await;
        process.record(2);
        process.end().await;
        let report = scene.verify().await;
        let first = report.chains.iter().find(|chain| chain.writer == old).unwrap();
        assert!(report.ok && first.vouched == Some(5), "{report}");
        let rows = scene.rows().await;
        Self { scene, rows, old, new }
    }

    /// What is found once only some of the rows are left.
    async fn left(&self, left: impl Fn(&AuditRow) -> bool, heads: &[Head]) -> Report {
        let store = MemoryStore::new();
        store.append_audit(self.rows.iter().filter(|row| left(row)).cloned().collect()).await.unwrap();
        Archive::new(Arc::new(store), self.scene.place.path()).verify(heads).await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_is_gone_or_cut_short_is_missed_by_the_next() {
    let two = Two::new().await;
    for kept in 0..5 {
        let report = two.left(|row| row.writer != two.old || row.sequence <= kept, &[]).await;
        assert!(!report.ok, "{kept} {report}");
        let missing = &report.missing[0];
        assert_eq!((&missing.writer, missing.seq, &missing.named_by), (&two.old, 5, &Some(two.new.clone())));
        assert_eq!(missing.after, u64::try_from(kept).ok().filter(|kept| *kept > 0));
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_last_chain_is_missed_only_by_who_kept_its_head() {
    let two = Two::new().await;
    let heads = two.scene.archive().heads().await.unwrap();
    let all = two.left(|_| true, &heads).await;
    assert!(all.ok && all.chains.iter().all(|chain| chain.vouched == chain.last), "{all}");
    let cut = |row: &AuditRow| row.writer != two.new || row.sequence < 3;
    assert!(two.left(cut, &[]).await.ok);
    let report = two.left(cut, &heads).await;
    assert!(
        !report.ok && report.to_string().contains("whoever kept its head named its record 4"),
        "{report}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_was_written_anew_is_not_the_one_that_was_named() {
    let two = Two::new().await;
    let heads: Vec<Head> = two.scene.archive().heads().await.unwrap();
    let forged: Vec<Head> = heads.into_iter().map(|head| Head { hash: "0".repeat(64), ..head }).collect();
    let report = two.left(|_| true, &forged).await;
    assert!(!report.ok && report.to_string().contains("it is not the record that"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn idle_processes_do_not_name_each_other_for_ever() {
    let scene = Scene::new();
    let (one, two) = (scene.process(), scene.process());
    one.record(1);
    two.record(1);
    tokio::time::sleep(std::time::Duration::from_secs(24 * 60 * 60)).await;
    let count = scene.rows().await.len();
    assert!((3..=6).contains(&count), "{count}");
    one.end().await;
    two.end().await;
    assert!(scene.verify().await.ok);
}

//! Searching and exporting, over the store and the spools.

use std::time::Duration;

use toolgate_core::AuditQuery;

use crate::scene::{Scene, record, written};

/// Two processes whose calls are partly in the store, partly not.
async fn scene() -> (Scene, Vec<crate::scene::Process>) {
    let scene = Scene::new();
    let (one, two) = (scene.process(), scene.process());
    for n in 0..40 {
        scene.clock.advance(Duration::from_millis(10));
        let process = if n % 2 == 0 { &one } else { &two };
        record(&process.audit, scene.clock.unix_ms(), &format!("t{n:02}"));
        if n == 25 {
            one.audit.flush().await.unwrap();
        }
        if n == 30 {
            two.audit.flush().await.unwrap();
            scene.store.fail(false);
        }
    }
    (scene, vec![one, two])
}

fn names(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["target"].as_str().unwrap().to_owned()
    };
    text.lines().map(name).collect()
}

#[tokio::test(start_paused = true)]
async fn records_are_found_newest_first_wherever_they_are() {
    let (scene, processes) = scene().await;
    let archive = scene.archive();
    let check = async |query: AuditQuery, expect: Vec<String>| {
        let found = archive.search(&query).await.unwrap();
        let found: Vec<&str> = found.iter().map(|row| row.target.as_str()).collect();
        assert_eq!(found, expect, "{query:?}");
    };
    let tools = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(|n| format!("tool:t{n:02}")).collect();
    let all = || AuditQuery { limit: 100, ..AuditQuery::default() };
    check(all(), tools(&mut (0..40).rev())).await;
    check(AuditQuery { limit: 3, ..all() }, tools(&mut (37..40).rev())).await;
    check(AuditQuery { target: Some("tool:t1*".into()), ..all() }, tools(&mut (10..20).rev())).await;
    check(AuditQuery { principal: Some("other".into()), ..all() }, Vec::new()).await;
    let writer = Some(processes[1].audit.state().writer);
    check(AuditQuery { writer, ..all() }, tools(&mut (0..40).rev().filter(|n| n % 2 == 1))).await;
    let first = archive.search(&AuditQuery { limit: 17, ..all() }).await.unwrap();
    let last = first.last().unwrap();
    let before = Some((last.time_ms, last.writer.clone(), last.sequence));
    check(AuditQuery { before, ..all() }, tools(&mut (0..23).rev())).await;
}

#[tokio::test(start_paused = true)]
async fn an_export_holds_every_line_once_as_it_was_chained() {
    let (scene, _processes) = scene().await;
    let mut out = Vec::new();
    let count = scene.archive().export(&mut out, &AuditQuery::default()).await.unwrap();
    let text = String::from_utf8(out).unwrap();
    let expect: Vec<String> = (0..40).rev().map(|n| format!("tool:t{n:02}")).collect();
    assert_eq!((count, names(&text)), (40, expect));
    let spools: String =
        scene.spools().iter().map(|path| String::from_utf8(written(path)).unwrap()).collect();
    assert!(text.lines().all(|line| spools.contains(line)));
}

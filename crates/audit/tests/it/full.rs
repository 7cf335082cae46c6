//! When there is no room for records.

use std::io::Read as _;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use toolgate_audit::{Archive, Audit, AuditConfig, OnFull, Parts};
use toolgate_core::{Kind, Recorder as _, SharedStore, SourceId};
use toolgate_host::{Clock, Tasks};
use toolgate_testkit::MemoryStore;

use crate::killed::{place, start};
use crate::scene::{NOW_MS, Scene, record, record_at};

fn small(on_full: OnFull) -> AuditConfig {
    AuditConfig { max_spool_bytes: 2000, on_full, ..AuditConfig::default() }
}

#[tokio::test(start_paused = true)]
async fn a_full_spool_refuses_calls_until_the_store_is_back() {
    let scene = Scene::new();
    scene.store.fail(true);
    let process = scene.process_with(small(OnFull::Refuse), 1 << 20);
    let mut ran = 0;
    while process.audit.ready().is_ok() {
        process.record(1);
        ran += 1;
    }
    assert!((3..10).contains(&ran), "{ran}");
    let error = process.audit.ready().unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Internal, "calls cannot be recorded, so none is run"));
    let hint = error.next_step().unwrap();
    assert!(hint.contains("the data folder") && hint.contains("audit.on_full"), "{hint}");
    assert!(process.audit.trouble().unwrap().contains("audit.max_spool_bytes"));
    // What was running meanwhile is recorded still.
    process.record(5);
    scene.store.fail(false);
    scene.until(|rows| rows.len() >= ran + 5).await;
    while process.audit.ready().is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(process.audit.trouble(), None);
    process.end().await;
    assert!(scene.verify().await.ok);
}

#[tokio::test(start_paused = true)]
async fn where_calls_run_on_all_the_same_those_that_were_lost_are_counted_in_the_record() {
    let scene = Scene::new();
    scene.store.fail(true);
    let process = scene.process_with(small(OnFull::Run), 1 << 20);
    // Beyond the bound, the reserve and the memory.
    for _ in 0..8000 {
        assert!(process.audit.ready().is_ok());
        process.record(1);
    }
    let state = process.audit.state();
    assert!(state.lost > 0 && state.waiting > 0 && state.trouble.is_some(), "{state:?}");
    record_at(&process.audit, NOW_MS, "refused", None);
    scene.store.fail(false);
    let rows = scene.until(|rows| rows.iter().any(|row| row.target == "audit:lost")).await;
    let lost = rows.iter().find(|row| row.target == "audit:lost").unwrap();
    assert!(lost.line.contains(&format!("\"calls\":{},\"refused\":1", state.lost)), "{}", lost.line);
    process.end().await;
    let report = scene.verify().await;
    assert!(report.ok && report.chains[0].lost == state.lost, "{report}");
    let recorded = scene.rows().await.iter().filter(|row| row.target == "tool:tool_x").count() as u64;
    assert_eq!(recorded + state.lost, 8000);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_refuses_the_first_call() {
    let scene = Scene::new();
    std::fs::write(scene.folder(), "").unwrap();
    let process = scene.process();
    assert!(process.audit.ready().is_err());
    std::fs::remove_file(scene.folder()).unwrap();
    assert!(process.audit.ready().is_ok());
    process.record(1);
    process.end().await;
    assert!(scene.verify().await.ok);
}

/// The part of the child, whose files may not become large: the kernel refuses to write, in the middle of a line.
#[test]
fn child_finds_no_room() {
    let Some(place) = place() else { return };
    let store: SharedStore = Arc::new(MemoryStore::new());
    let parts = Parts { data_dir: place.clone(), store, tasks: Tasks::new(), clock: Clock::system() };
    let audit = Audit::new(parts, AuditConfig::default());
    let mut ran = 0;
    while audit.ready().is_ok() {
        record(&audit, NOW_MS, "runs");
        ran += 1;
    }
    assert!(ran > 3 && audit.trouble().is_some(), "{ran}");
    record_at(&audit, NOW_MS, "late", Some(&SourceId::new("slow")));
    record_at(&audit, NOW_MS, "refused", None);
    let state = audit.state();
    assert_eq!((state.waiting, state.lost), (2, 0));
    let spool = std::fs::read_dir(place.join("audit")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read(&spool).unwrap().ends_with(b"\"}\n"));
    let most = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: most, maximum: most }).unwrap();
    assert!(audit.ready().is_ok());
    assert_eq!((audit.trouble(), audit.state().waiting), (None, 0));
    println!("ran {ran}");
}

#[tokio::test]
async fn a_disk_without_room_refuses_calls_and_keeps_what_was_running() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start("full::child_finds_no_room", folder.path(), "trap '' XFSZ; ulimit -S -f 5");
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let ran: u64 = said.split("ran ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let report = Archive::new(Arc::new(MemoryStore::new()), folder.path()).verify(&[]).await.unwrap();
    // All that ran, the late one, and the record that one was refused.
    assert!(report.ok && report.records == ran + 2, "{report}");
}

//! Spools: who may read them, how they go on, and what becomes of them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolgate_audit::AuditConfig;

use crate::scene::{NOW_MS, Scene, record_by, rewrite, written};

#[tokio::test]
async fn only_the_owner_may_read_them() {
    let scene = Scene::new();
    let process = scene.process();
    process.record(1);
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(scene.folder()), mode(scene.spools().remove(0))), (0o700, 0o600));
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn records_come_into_the_store_and_a_clean_end_leaves_no_file() {
    let scene = Scene::new();
    let process = scene.process();
    process.record(3);
    scene.until(|rows| rows.len() == 3).await;
    assert_eq!(scene.spools().len(), 1);
    process.record(2);
    process.end().await;
    assert_eq!((scene.rows().await.len(), scene.spools().len()), (5, 0));
    let report = scene.verify().await;
    assert!(report.ok && report.records == 5, "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_full_file_is_followed_by_the_next_in_the_same_chain() {
    let scene = Scene::in_memory();
    let process = scene.process_with(AuditConfig::default(), 2000);
    scene.store.fail(true);
    process.record(50);
    assert!(scene.spools().len() > 5);
    let report = toolgate_audit::Archive::new(
        std::sync::Arc::new(toolgate_testkit::MemoryStore::new()),
        scene.place.path(),
    )
    .verify(&[])
    .await
    .unwrap();
    assert!(report.ok && report.records == 50 && report.chains.len() == 1, "{report}");
    scene.store.fail(false);
    scene.until(|rows| rows.len() == 50).await;
    // Only the one that is written to stays, and an empty one to go on with.
    process.audit.flush().await.unwrap();
    assert_eq!(scene.spools().len(), 2);
    assert!(scene.verify().await.ok);
    process.end().await;
    assert!(scene.spools().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_file_whose_lines_are_in_the_store_is_emptied_and_used_again() {
    let scene = Scene::in_memory();
    let process = scene.process_with(AuditConfig::default(), 2000);
    let mut files = BTreeSet::new();
    for count in 1..=40 {
        process.record(3);
        process.audit.flush().await.unwrap();
        files.extend(scene.spools().iter().map(|path| path.metadata().unwrap().ino()));
        let report = scene.verify().await;
        assert!(report.ok && report.records >= count * 3, "{report}");
    }
    // 120 records of some 400 bytes each.
    assert_eq!(files.len(), 2);
    // One that was not told to end leaves it, and the next removes it.
    let spare =
        scene.spools().into_iter().find(|path| path.extension().is_some_and(|it| it == "spare")).unwrap();
    process.record(1);
    process.die().await;
    let next = scene.process();
    next.record(1);
    scene.until(|rows| rows.iter().filter(|row| row.target == "tool:tool_x").count() == 122).await;
    for _ in 0..100 {
        if !spare.exists() {
            break;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert!(!spare.exists());
    next.end().await;
    assert!(scene.verify().await.ok);
}

#[test]
fn whoever_reads_while_files_are_used_again_sees_whole_chains() {
    let scene = Scene::in_memory();
    let process = scene.process_with(AuditConfig::default(), 2000);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for _ in 0..400 {
                process.record(5);
                runtime().block_on(process.audit.flush()).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let report = runtime().block_on(scene.verify());
            assert!(report.ok, "{report}");
        }
    });
    let report = runtime().block_on(scene.verify());
    assert!(report.ok && report.records == 2000, "{report}");
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_records_are_copied_waits_until_it_is_much() {
    let scene = Scene::new();
    scene.store.append_slowly(Duration::from_millis(20));
    let process = scene.process();
    // Five seconds of ever more records: some have come whenever others have been copied.
    for _ in 0..500 {
        process.record(2);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let appends = scene.store.appends();
    assert!((3..=7).contains(&appends), "{appends}");
    // Many are not kept waiting, however soon they come.
    process.record(5000);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(scene.rows().await.len() >= 6000);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn while_the_store_fails_that_is_told_and_nothing_is_lost() {
    let scene = Scene::new();
    scene.store.fail(true);
    let process = scene.process();
    process.record(3);
    while process.audit.trouble().is_none() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let trouble = process.audit.trouble().unwrap();
    assert!(trouble.starts_with("records of calls wait in the spool: "), "{trouble}");
    assert!(toolgate_core::Recorder::ready(&process.audit).is_ok());
    scene.store.fail(false);
    scene.until(|rows| rows.len() == 3).await;
    while process.audit.trouble().is_some() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_writer_left_is_collected_and_what_a_living_one_writes_is_not() {
    let scene = Scene::new();
    scene.store.fail(true);
    let dead = scene.process();
    dead.record(4);
    dead.die().await;
    let living = scene.process();
    living.record(2);
    let living_spool = scene.folder().join(format!("{}.jsonl", living.audit.state().writer));
    let before = written(&living_spool);
    scene.store.fail(false);
    let third = scene.process();
    third.record(1);
    scene.until(|rows| rows.iter().filter(|row| row.target == "tool:tool_x").count() == 7).await;
    // Its own task may have copied it meanwhile, but the file is there as it was.
    assert!(std::fs::read(&living_spool).unwrap().starts_with(&before));
    living.record(1);
    third.end().await;
    living.end().await;
    let report = scene.verify().await;
    assert!(report.ok && report.chains.len() == 3 && scene.spools().is_empty(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn two_writers_at_once_keep_their_chains_apart() {
    let scene = Scene::new();
    let (one, two) = (scene.process(), scene.process());
    for _ in 0..50 {
        one.record(7);
        two.record(5);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    one.end().await;
    two.end().await;
    let report = scene.verify().await;
    assert!(report.ok && report.chains.len() == 2, "{report}");
    let calls = scene.rows().await.iter().filter(|row| row.target == "tool:tool_x").count();
    assert_eq!(calls, 600);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_was_cut_off_is_told_and_is_no_tampering() {
    let scene = Scene::new();
    scene.store.fail(true);
    let dead = scene.process();
    dead.record(3);
    dead.die().await;
    let path = scene.spools().remove(0);
    let whole = written(&path);
    let last = whole.split_inclusive(|byte| *byte == b'\n').next_back().unwrap().len();
    scene.store.fail(false);
    // From the whole line without its break down to its first byte.
    for cut in 1..last {
        rewrite(&path, &whole[..whole.len() - cut]);
        let report = scene.verify().await;
        let (records, torn) = if cut == 1 { (3, 0) } else { (2, (last - cut) as u64) };
        assert!(report.ok && report.records == records, "{cut} {report}");
        assert_eq!(report.chains[0].torn_bytes, torn, "{cut}");
    }
    // Through memory its first byte comes last, so that anything may be missing behind that.
    let (before, line) = whole.split_at(whole.len() - last);
    for gap in 1..last {
        let half = [&vec![0; gap], &line[gap..], &[0; 100]].concat();
        rewrite(&path, &[before, &half].concat());
        let report = scene.verify().await;
        assert!(report.ok && report.records == 2, "{gap} {report}");
        assert_eq!(report.chains[0].torn_bytes, last as u64, "{gap}");
    }
    let next = scene.process();
    next.record(1);
    let rows = scene.until(|rows| rows.iter().any(|row| row.target == "audit:torn")).await;
    let told = rows.iter().find(|row| row.target == "audit:torn").unwrap();
    assert!(told.line.contains("\"after\":2"), "{}", told.line);
    assert!(!path.exists());
    next.end().await;
    assert!(scene.verify().await.ok);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_was_changed_under_its_writer_is_not_copied_as_if_it_were_one() {
    let scene = Scene::in_memory();
    scene.store.fail(true);
    let process = scene.process();
    process.record(5);
    let path = scene.spools().remove(0);
    let bytes = written(&path);
    let third: usize = bytes.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum();
    // One line becomes two, neither of which is a record.
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_at(b"\n", third as u64 + 20).unwrap();
    scene.store.fail(false);
    let rows = scene.until(|rows| rows.len() >= 4).await;
    assert_eq!(rows.iter().map(|row| row.sequence).collect::<Vec<_>>(), [1, 2, 4, 5]);
    assert!(!scene.verify().await.ok);
    // What comes behind it is copied as ever, and the file stays to be looked at.
    process.record(1);
    scene.until(|rows| rows.last().is_some_and(|row| row.sequence == 6)).await;
    process.end().await;
    assert!(path.exists() && !scene.verify().await.ok);
}

#[tokio::test(start_paused = true)]
async fn whoever_calls_is_copied_as_they_are_named() {
    let scene = Scene::new();
    let process = scene.process();
    let long = "x".repeat(5000);
    let names = ["local", "a\"b\\c", "local", "zero\0", "ü🦀", &long, "local"];
    for (number, name) in (1..).zip(names) {
        record_by(&process.audit, NOW_MS, name);
        // Each by itself: of several, who calls is not told of all at once.
        scene.until(|rows| rows.len() == number).await;
    }
    let rows = scene.rows().await;
    let found: Vec<&str> = rows.iter().map(|row| &*row.principal).collect();
    let cut = format!("{}…", &long[..2048]);
    assert_eq!(found, ["local", "a\"b\\c", "local", "zero\u{FFFD}", "ü🦀", &cut, "local"]);
    process.end().await;
    assert!(scene.verify().await.ok);
}

#[tokio::test(start_paused = true)]
async fn a_spool_with_what_is_no_record_stays_to_be_looked_at() {
    let scene = Scene::new();
    scene.store.fail(true);
    let dead = scene.process();
    dead.record(2);
    dead.die().await;
    scene.store.fail(false);
    let path = scene.spools().remove(0);
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"hello\n").unwrap();
    assert!(!scene.verify().await.ok);
    let next = scene.process();
    next.record(1);
    scene.until(|rows| rows.len() >= 3).await;
    next.end().await;
    assert!(path.exists());
    assert!(!scene.verify().await.ok);
}

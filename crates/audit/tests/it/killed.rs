//! What was recorded before a kill is there after it. The processes are this test binary, started again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use toolgate_audit::{Archive, Audit, AuditConfig, Parts};
use toolgate_core::SharedStore;
use toolgate_host::{Clock, Tasks};

use crate::scene::{record, rows};
use crate::store::FileStore;

const PLACE: &str = "TOOLGATE_AUDIT_TEST_PLACE";
const MARK: &str = "recorded ";
const KILLS: u64 = 25;

#[expect(clippy::disallowed_methods, reason = "how this test tells its own child what to do")]
pub(crate) fn place() -> Option<PathBuf> {
    std::env::var(PLACE).ok().map(PathBuf::from)
}

/// Starts one test of this binary in a process of its own, after the shell ran `setting`.
#[expect(clippy::disallowed_methods, reason = "the test needs another process")]
pub(crate) fn start(test: &str, place: &Path, setting: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{setting}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads", "1", "--nocapture"])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The part of the child, which records until it is killed; there is nothing to do in the parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_records_until_it_is_killed() {
    let Some(place) = place() else { return };
    let store: SharedStore = Arc::new(FileStore::new(&place));
    let parts = Parts { data_dir: place, store, tasks: Tasks::new(), clock: Clock::system() };
    let audit = Audit::rotating(parts, AuditConfig::default(), 20_000);
    let writer = audit.state().writer;
    // Recorded first, told then: as a reply leaves only after its record.
    for seq in 0_u64.. {
        record(&audit, Clock::system().unix_ms(), &format!("{writer}.{seq}"));
        println!("{MARK}tool:{writer}.{seq}");
        // Some children live to see their lines copied, and are killed in the middle of that.
        if seq % 100 == 99 {
            audit.flush().await.unwrap();
        }
    }
}

#[tokio::test]
async fn nothing_that_was_told_as_recorded_is_lost_by_kills() {
    let folder = tempfile::tempdir().unwrap();
    let mut told = BTreeSet::new();
    for n in 0..KILLS {
        let mut child = start("killed::child_records_until_it_is_killed", folder.path(), ":");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // At any moment: after so many lines, and a bit.
        let after = n * n * 7 % 300;
        let mut seen = 0;
        for line in lines {
            let Ok(line) = line else { break };
            let Some(at) = line.find(MARK) else { continue };
            told.insert(line[at + MARK.len()..].to_owned());
            seen += 1;
            if seen == after + 1 {
                std::thread::sleep(Duration::from_micros(n * 37 % 400));
                child.kill().unwrap();
            }
        }
        assert!(!child.wait().unwrap().success());
    }
    // A last process collects what they left.
    let store: SharedStore = Arc::new(FileStore::new(folder.path()));
    let check = async |copied: bool| {
        let report = Archive::new(store.clone(), folder.path()).verify(&[]).await.unwrap();
        assert!(report.ok && report.chains.len() as u64 >= KILLS, "{report}");
        let mut out = Vec::new();
        Archive::new(store.clone(), folder.path()).export(&mut out, &Default::default()).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        let found: BTreeSet<&str> = text.split('"').filter(|part| part.starts_with("tool:")).collect();
        let lost: Vec<_> = told.iter().filter(|it| !found.contains(it.as_str())).collect();
        assert!(lost.is_empty(), "{lost:?}");
        assert!(!copied || rows(&store).await.len() as u64 >= told.len() as u64);
    };
    assert!(told.len() as u64 > KILLS);
    check(false).await;
    let tasks = Tasks::new();
    let parts = Parts {
        data_dir: folder.path().into(),
        store: store.clone(),
        tasks: tasks.clone(),
        clock: Clock::system(),
    };
    record(&Audit::new(parts, AuditConfig::default()), Clock::system().unix_ms(), "last");
    let spools = || std::fs::read_dir(folder.path().join("audit")).unwrap().count();
    for _ in 0..1200 {
        if spools() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(tasks.shutdown(Duration::from_secs(60)).await);
    assert_eq!(spools(), 0);
    check(true).await;
}

//! Programs that may touch only what is named. Where the kernel cannot hold them to it, they do not start.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_host::kernel::landlock_version;
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::State;

use crate::rig::{Rig, text, trial, with};
use crate::rogue::rogue;

/// The first version of Landlock that can hold all that these tests want.
const NEEDED: u32 = 4;

/// Whether the effect can be seen here; else it is checked that nothing starts. Either way it is said which.
fn can_be_held() -> bool {
    let version = landlock_version();
    let can = version.is_some_and(|version| version >= NEEDED);
    println!("Landlock {version:?}: {}", if can { "the effect is checked" } else { "nothing may start" });
    can
}

/// A server, which is this binary and leaves its marks in `place`, in a sandbox.
fn confined(place: &Path, write: &[&Path]) -> Value {
    let binary = std::env::current_exe().unwrap();
    let sandbox = json!({"kind": "landlock", "read": [binary], "write": write});
    with(rogue("", place), json!({"sandbox": sandbox}))
}

#[tokio::test]
async fn a_confined_server_serves_and_touches_nothing_else() {
    let can = can_be_held();
    let place = Arc::new(tempfile::tempdir().unwrap());
    let secret = tempfile::NamedTempFile::new().unwrap();
    let rig = Rig::of(confined(place.path(), &[place.path()]), place.clone(), None);
    rig.settled().await;
    if !can {
        let status = rig.status();
        assert_eq!((status.state, rig.count("started")), (State::Failed, 0));
        assert!(status.error.unwrap().contains("cannot be confined"));
        return;
    }
    rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    let read = async |path: &Path| {
        let arguments = json!({"path": path});
        let result = rig.call(client_legacy(), "fake_read", arguments, None).await.complete();
        text(&result).to_owned()
    };
    assert_eq!(read(&place.path().join("started")).await, "read");
    assert_eq!(read(Path::new("/etc/passwd")).await, "read");
    assert_eq!(read(secret.path()).await, "PermissionDenied");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_needs_more_than_it_may_have_fails_and_says_so() {
    let can = can_be_held();
    let place = tempfile::tempdir().unwrap();
    let status = trial(confined(place.path(), &[])).await.status;
    assert_eq!((status.state, status.tools), (State::Failed, 0));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "it wrote where it may not");
    let error = status.error.unwrap();
    let expect = if can { "its program ended with exit code 101" } else { "cannot be confined" };
    assert!(error.contains(expect), "{error}");
    assert_eq!(
        can,
        status.stderr.iter().any(|line| line.contains("PermissionDenied")),
        "{:?}",
        status.stderr
    );
}

#[tokio::test]
async fn a_sandbox_that_names_what_is_not_there_lets_nothing_start() {
    let can = can_be_held();
    let place = tempfile::tempdir().unwrap();
    let status = trial(confined(place.path(), &[Path::new("/nowhere/at/all")])).await.status;
    assert_eq!(status.state, State::Failed);
    let error = status.error.unwrap();
    assert!(error.starts_with("`/bin/sh` cannot be confined: "), "{error}");
    assert_eq!(can, error.contains("`/nowhere/at/all` cannot be opened"), "{error}");
}

#[tokio::test]
async fn a_real_server_is_held_to_less_than_it_allows_itself() {
    let can = can_be_held();
    let (peers, inside, outside) =
        (crate::conformance::peers(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&inside, &outside] {
        std::fs::write(folder.path().join("file"), "content").unwrap();
    }
    let server = peers.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let table = json!({
        "command": peers.join("bin/node"), "args": [server, inside.path(), outside.path()], "timeout": 60_000,
        "sandbox": {"kind": "landlock", "read": [peers, inside.path()]},
    });
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    if !can {
        assert_eq!(rig.status().state, State::Failed);
        return;
    }
    let read = async |folder: &Path| {
        let arguments = json!({"path": folder.join("file")});
        let result = rig.call(client_legacy(), "fake_read_text_file", arguments, None).await.complete();
        text(&result).to_owned()
    };
    assert_eq!(read(inside.path()).await, "content");
    let denied = read(outside.path()).await;
    assert!(denied.contains("permission denied"), "{denied}");
    rig.upstream.stop().await;
}

//! What several processes do to one file. The processes are this test binary, started again.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use toolgate_host::files::{ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use crate::scene::Scene;

const PLACE: &str = "TOOLGATE_HOST_TEST_PLACE";
const NAME: &str = "TOOLGATE_HOST_TEST_NAME";
const LINES: usize = 200;

#[expect(clippy::disallowed_methods, reason = "how this test tells its own child what to do")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Starts one test of this binary in a process of its own, after the shell ran `setting`.
#[expect(clippy::disallowed_methods, reason = "the test needs another process")]
fn start(test: &str, place: &Path, name: &str, setting: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{setting}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads", "1"])
        .env(PLACE, place)
        .env(NAME, name)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn options(mode: WriteMode) -> WriteOptions {
    WriteOptions { create_dirs: true, mode, max_bytes: 10_000_000, protected: |_| false }
}

/// The part of the child; there is nothing to do in the parent.
#[tokio::test]
async fn child_appends_lines() {
    let Some(place) = variable(PLACE) else { return };
    let name = variable(NAME).unwrap();
    let root = Root::open(place).unwrap();
    let path = RelPath::parse("memory/MEMORY.md", "").unwrap();
    for n in 0..LINES {
        let line = format!("{name} {n}\n");
        root.write(&path, line.into_bytes(), options(WriteMode::Append)).await.unwrap();
    }
}

#[test]
fn two_processes_that_append_to_one_file_lose_nothing() {
    let scene = Scene::new();
    let children =
        ["one", "two"].map(|name| start("processes::child_appends_lines", scene.root.path(), name, ":"));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let content = scene.read_with("memory/MEMORY.md", ReadOptions::whole(1_000_000)).unwrap();
    let text = String::from_utf8(content.bytes).unwrap();
    for name in ["one", "two"] {
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
        let expect: Vec<_> = (0..LINES).map(|n| format!("{name} {n}")).collect();
        assert_eq!(lines, expect);
    }
    assert_eq!(text.lines().count(), 2 * LINES);
    scene.assert_no_litter("memory");
}

/// The part of the child, which may write no more than a few kilobytes to any file.
#[tokio::test]
async fn child_runs_out_of_space() {
    let Some(place) = variable(PLACE) else { return };
    let root = Root::open(place).unwrap();
    let path = RelPath::parse("file", "").unwrap();
    for mode in [WriteMode::Replace, WriteMode::Append] {
        let error = root.write(&path, vec![b'x'; 1_000_000], options(mode)).await.unwrap_err();
        assert!(matches!(error, FileError::NoSpace { .. }), "{error:?}");
        assert_eq!(error.to_string(), "no space left to write `file`");
    }
}

#[test]
fn without_space_the_old_file_stays_and_no_half_of_the_new_one() {
    let scene = Scene::new();
    scene.put("file", "old");
    // The shell's limit on file sizes stands for a full disk; the signal that comes with it is ignored.
    let limited = "trap '' XFSZ; ulimit -f 8";
    let mut child = start("processes::child_runs_out_of_space", scene.root.path(), "", limited);
    assert!(child.wait().unwrap().success());
    assert_eq!(scene.read("file").unwrap(), "old");
    assert_eq!(scene.names("").unwrap(), ["file"]);
    scene.assert_no_litter("");
}

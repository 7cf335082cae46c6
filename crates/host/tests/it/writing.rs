//! Writing files as a whole.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use toolgate_host::files::{WriteMode, WriteOptions, Written};
use toolgate_host::{FileError, RelPath};

use WriteMode::{Append, AppendLine, CreateNew, Replace};

use crate::scene::{LIMIT, SECRET, Scene, kind};

#[test]
fn each_mode_treats_what_is_there_in_its_own_way() {
    let scene = Scene::new();
    let written = |bytes, total_size, created| Written { bytes, total_size, created };
    assert_eq!(scene.write("a/b/file", "one", Replace).unwrap(), written(3, 3, true));
    assert_eq!(scene.write("a/b/file", "four", Replace).unwrap(), written(4, 4, false));
    assert_eq!(scene.write("a/b/file", "+5", Append).unwrap(), written(2, 6, false));
    assert_eq!(kind(&scene.write("a/b/file", "six", CreateNew)), "exists");
    assert_eq!(scene.read("/workspace/a/b/file").unwrap(), "four+5");
    assert_eq!(scene.write("new", "x", CreateNew).unwrap(), written(1, 1, true));
    assert_eq!(scene.write("log", "x", Append).unwrap(), written(1, 1, true));
    assert_eq!(scene.write("empty", "", Replace).unwrap(), written(0, 0, true));
    scene.assert_no_litter("");
    scene.assert_no_litter("a/b");
}

#[test]
fn a_line_that_was_not_ended_is_ended_before_another_is_appended() {
    let scene = Scene::new();
    for (line, wrote, expect) in
        [("one", 3, "one"), ("two\n", 5, "one\ntwo\n"), ("", 0, "one\ntwo\n"), ("3", 1, "one\ntwo\n3")]
    {
        let written = scene.write("log", line, AppendLine).unwrap();
        assert_eq!((written.bytes, written.total_size), (wrote, expect.len() as u64));
        assert_eq!(scene.read("log").unwrap(), expect);
    }
    scene.put("full", "x".repeat(1_000));
    assert_eq!(kind(&scene.write("full", "", AppendLine)), "ok");
    scene.put("nearly", "x".repeat(999));
    assert_eq!(kind(&scene.write("nearly", "y", AppendLine)), "too large");
}

#[test]
fn missing_folders_are_made_only_if_asked_for() {
    let scene = Scene::new();
    let path = RelPath::parse("a/b", "").unwrap();
    let options = WriteOptions { create_dirs: false, mode: Replace, max_bytes: LIMIT, protected: |_| false };
    let outcome = scene.runtime.block_on(scene.root.write(&path, b"x".to_vec(), options));
    assert_eq!(kind(&outcome), "not found");
    assert!(!scene.host("a").exists());
}

#[test]
fn a_folder_is_made_once_and_never_where_a_file_is() {
    let scene = Scene::new();
    scene.put("file", "x");
    for (path, expect) in [("a/b", "ok"), ("a/b", "ok"), ("file", "exists"), ("file/below", "not a folder")] {
        let path = RelPath::parse(path, "").unwrap();
        assert_eq!(kind(&scene.runtime.block_on(scene.root.make_folder(&path))), expect, "{path:?}");
    }
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_no_trace() {
    let scene = Scene::new();
    scene.put("folder/file", "x");
    scene.put("read-only", "old");
    fs::set_permissions(scene.host("read-only"), PermissionsExt::from_mode(0o444)).unwrap();
    mknodat(CWD, scene.host("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let check = |path, expect| {
        for mode in [Replace, Append] {
            assert_eq!(kind(&scene.write(path, "new", mode)), expect, "{path} {mode:?}");
        }
    };
    check("", "not a file");
    check("/workspace", "not a file");
    check("folder", "not a file");
    check("pipe", "not a file");
    check("folder/file/x", "not a folder");
    check("read-only", "permission");
    assert_eq!(scene.read("read-only").unwrap(), "old");
    scene.assert_no_litter("");
    scene.assert_no_litter("folder");
}

#[test]
fn the_limit_holds_for_the_file_as_it_would_be_afterwards() {
    let scene = Scene::new();
    let over = scene.write("file", &"x".repeat(1_001), Replace).unwrap_err();
    assert!(matches!(over, FileError::TooLarge { size: 1_001, limit: LIMIT, .. }), "{over:?}");
    assert!(!scene.host("file").exists());
    scene.write("file", &"x".repeat(600), Append).unwrap();
    let over = scene.write("file", &"y".repeat(600), Append).unwrap_err();
    assert!(matches!(over, FileError::TooLarge { size: 1_200, limit: LIMIT, .. }), "{over:?}");
    assert_eq!(scene.read("file").unwrap(), "x".repeat(600));
    scene.assert_no_litter("");
}

#[test]
fn permission_bits_are_kept_and_new_files_are_not_for_others_to_write() {
    let scene = Scene::new();
    let mode = |path| fs::metadata(scene.host(path)).unwrap().mode() & 0o7777;
    for kept in [0o600, 0o640, 0o755] {
        scene.put("file", "old");
        fs::set_permissions(scene.host("file"), PermissionsExt::from_mode(kept)).unwrap();
        scene.write("file", "new", Replace).unwrap();
        assert_eq!(mode("file"), kept);
        scene.write("file", "+", Append).unwrap();
        assert_eq!(mode("file"), kept);
    }
    scene.write("new", "x", Replace).unwrap();
    assert_eq!(mode("new") & !0o644, 0);
    assert_eq!(mode("new") & 0o600, 0o600);
    assert_eq!(fs::metadata(scene.root.path()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn another_hard_link_keeps_the_old_content() {
    for mode in [Replace, Append] {
        let scene = Scene::new();
        fs::hard_link(scene.outside().join("secret.txt"), scene.host("hard")).unwrap();
        scene.write("hard", "new", mode).unwrap();
        assert!(scene.read("hard").unwrap().ends_with("new"));
        scene.assert_outside_untouched();
    }
}

#[test]
fn a_link_that_stays_inside_is_written_through_and_stays_a_link() {
    let scene = Scene::new();
    scene.put("real/file", "old");
    fs::create_dir(scene.host("links")).unwrap();
    scene.link("../real/file", "links/file");
    scene.link("links/file", "chain");
    scene.link("real/made", "dangling");
    scene.write("chain", "new", Replace).unwrap();
    assert_eq!(fs::read_to_string(scene.host("real/file")).unwrap(), "new");
    assert!(fs::symlink_metadata(scene.host("links/file")).unwrap().is_symlink());
    assert_eq!(kind(&scene.write("dangling", "x", CreateNew)), "exists");
    assert!(scene.write("dangling", "x", Replace).unwrap().created);
    assert_eq!(fs::read_to_string(scene.host("real/made")).unwrap(), "x");
}

#[test]
fn removing_takes_a_file_or_the_link_itself_but_no_folder() {
    let scene = Scene::new();
    scene.put("folder/file", "x");
    scene.link(scene.outside().join("secret.txt"), "link");
    let check = |path, expect| {
        let path = RelPath::parse(path, "").unwrap();
        assert_eq!(kind(&scene.runtime.block_on(scene.root.remove_file(&path))), expect, "{path}");
    };
    check("folder/file", "ok");
    check("folder/file", "not found");
    check("link", "ok");
    check("folder", "not a file");
    check("", "not a file");
    assert_eq!(fs::read_to_string(scene.outside().join("secret.txt")).unwrap(), SECRET);
    assert!(scene.host("folder").is_dir());
}

#[test]
fn many_writers_in_one_process_lose_nothing_either() {
    let scene = Scene::new();
    let writes = (0..64).map(|n| {
        let root = scene.root.clone();
        let options =
            WriteOptions { create_dirs: true, mode: Append, max_bytes: LIMIT, protected: |_| false };
        async move {
            let path = RelPath::parse("folder/log", "").unwrap();
            root.write(&path, format!("{n:02}\n").into_bytes(), options).await.unwrap();
        }
    });
    scene.runtime.block_on(async {
        let mut running = tokio::task::JoinSet::new();
        writes.for_each(|write| drop(running.spawn(write)));
        running.join_all().await;
    });
    let text = scene.read("folder/log").unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..64).map(|n| format!("{n:02}")).collect::<Vec<_>>());
}

#[test]
fn what_dead_writers_left_is_swept_away_but_not_what_a_living_one_needs() {
    let scene = Scene::new();
    for path in [".toolgate-tmp-1", "a/.toolgate-tmp-2", "a/kept", "b/.toolgate-tmp-3"] {
        scene.put(path, "half");
    }
    let writing = fs::File::open(scene.host("b")).unwrap();
    writing.lock().unwrap();
    assert_eq!(scene.runtime.block_on(scene.root.sweep(100)).unwrap(), 2);
    scene.assert_no_litter("");
    scene.assert_no_litter("a");
    assert!(scene.host("a/kept").exists() && scene.host("b/.toolgate-tmp-3").exists());
    drop(writing);
    assert_eq!(scene.runtime.block_on(scene.root.sweep(100)).unwrap(), 1);
}

type Make = fn(Option<Vec<u8>>) -> Result<Vec<u8>, &'static str>;

#[test]
fn a_change_sees_what_is_there_and_leaves_it_where_it_fails() {
    let scene = Scene::new();
    let change = |path: &str, make: Make| {
        let path = RelPath::parse(path, "").unwrap();
        let protected = |path: &std::path::Path| path.starts_with("secret");
        let options = WriteOptions { create_dirs: true, mode: Replace, max_bytes: LIMIT, protected };
        scene.runtime.block_on(scene.root.change(&path, options, make))
    };
    let grow: Make = |old| Ok([old.unwrap_or_default(), b"x".to_vec()].concat());
    let written = |total_size, created| Written { bytes: total_size, total_size, created };
    assert_eq!(change("a/b", grow).unwrap(), Ok(written(1, true)));
    assert_eq!(change("a/b", grow).unwrap(), Ok(written(2, false)));
    assert_eq!(change("a/b", |_| Err("no")).unwrap(), Err("no"));
    assert_eq!(kind(&change("a/b", |_| Ok(vec![0; 1_001]))), "too large");
    assert_eq!(kind(&change("secret/a", grow)), "protected");
    fs::create_dir(scene.host("secret")).unwrap();
    scene.link("secret", "to-secret");
    assert_eq!(kind(&change("to-secret/deep/er/a", grow)), "protected");
    assert_eq!(fs::read_dir(scene.host("secret")).unwrap().count(), 0, "no folder is made there");
    scene.link("a", "to-a");
    assert_eq!(change("to-a/b", grow).unwrap(), Ok(written(3, false)));
    scene.link(scene.outside(), "out");
    assert_eq!(kind(&change("out/secret.txt", grow)), "outside");
    scene.put("huge", "x".repeat(1_001));
    assert_eq!(kind(&change("huge", |_| Ok(Vec::new()))), "too large");
    assert_eq!(scene.read("a/b").unwrap(), "xxx");
    scene.assert_no_litter("");
    scene.assert_no_litter("a");
    scene.assert_outside_untouched();
}

#[test]
fn changes_at_once_do_not_lose_each_other() {
    let scene = Scene::new();
    let root = &scene.root;
    let path = RelPath::parse("count", "").unwrap();
    let one = || async {
        let options =
            WriteOptions { create_dirs: true, mode: Replace, max_bytes: LIMIT, protected: |_| false };
        let grow = |old: Option<Vec<u8>>| Ok::<_, ()>([old.unwrap_or_default(), b"x".to_vec()].concat());
        root.change(&path, options, grow).await.unwrap().unwrap();
    };
    scene.runtime.block_on(async { tokio::join!(one(), one(), one(), one(), one(), one()) });
    assert_eq!(scene.read("count").unwrap(), "xxxxxx");
}

#[test]
fn a_link_takes_the_place_of_a_link_and_of_nothing_else() {
    let scene = Scene::new();
    let link = |path: &str| {
        let path = RelPath::parse(path, "").unwrap();
        scene.runtime.block_on(scene.root.link(&path, scene.outside()))
    };
    link("out").unwrap();
    link("out").unwrap();
    assert_eq!(fs::read_link(scene.host("out")).unwrap(), scene.outside());
    scene.put("file", "kept");
    assert_eq!(kind(&link("file")), "exists");
    assert_eq!(scene.read("file").unwrap(), "kept");
    assert_eq!(kind(&scene.read("out/secret.txt")), "outside");
}

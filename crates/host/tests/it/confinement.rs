//! Nothing outside of the root is ever read or written.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolgate_host::files::WriteMode::{Append, CreateNew, Replace};
use toolgate_host::{FileError, RelPath};

use crate::scene::{MARKER, SECRET, Scene, kind};

const FLIPS: usize = 2_000;

/// A root full of ways out.
fn trapped() -> Scene {
    let scene = Scene::new();
    scene.put("dir/file", "inside");
    scene.link("../outside", "out");
    scene.link(scene.outside(), "absolute");
    scene.link("../outside/secret.txt", "file-out");
    scene.link(scene.outside().join("secret.txt"), "file-absolute");
    scene.link("file-out", "chain1");
    scene.link("chain1", "chain2");
    scene.link("out", "dir/.hidden");
    scene.link("../out", "dir/through");
    scene.link("../../root-evil", "dir/sibling");
    scene.link("/proc/self/root", "magic");
    scene.link("..", "up");
    scene.link(scene.root.path(), "absolute-inside");
    scene.link("dir/../../outside/new", "dangling-out");
    scene.link("loop", "loop");
    scene
}

#[test]
fn no_symbolic_link_leads_out() {
    let scene = trapped();
    let check = |path, expect| {
        assert_eq!(kind(&scene.read(path)), expect, "read {path}");
        let expect = if expect == "not found" { "ok" } else { expect };
        assert_eq!(kind(&scene.write(path, "evil", Replace)), expect, "replace {path}");
        assert_eq!(kind(&scene.write(path, "evil", Append)), expect, "append {path}");
        scene.assert_outside_untouched();
    };
    check("out/secret.txt", "outside");
    check("absolute/secret.txt", "outside");
    check("file-out", "outside");
    check("file-absolute", "outside");
    check("chain2", "outside");
    check("dir/through/secret.txt", "outside");
    check("dir/sibling/secret.txt", "outside");
    check("magic/etc/passwd", "outside");
    check("up/outside/secret.txt", "outside");
    check("absolute-inside/dir/file", "outside");
    check("dangling-out", "outside");
    check("loop", "invalid");
    check("dir/file", "ok");
    check("dir/new", "not found");
}

#[test]
fn nothing_new_appears_behind_a_link_that_leads_out() {
    let scene = trapped();
    for path in ["out/new", "out/a/b/new", "absolute/new", "up/new", "up/outside/new", "dir/through/a/new"] {
        for mode in [Replace, Append, CreateNew] {
            assert_eq!(kind(&scene.write(path, "evil", mode)), "outside", "{path} {mode:?}");
        }
    }
    for path in ["out", "absolute", "up", "dir/through", "dir/sibling", "magic"] {
        assert_eq!(kind(&scene.names(path)), "outside", "{path}");
        let path = RelPath::parse(&format!("{path}/secret.txt"), "").unwrap();
        assert_eq!(kind(&scene.runtime.block_on(scene.root.remove_file(&path))), "outside");
    }
    scene.assert_outside_untouched();
}

/// Exchanges a folder with a link that leads out, again and again, while `act` tries its luck.
fn under_flips(scene: &Scene, act: impl Fn()) {
    scene.put("flip/secret.txt", "inside");
    scene.link("../outside", "flop");
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let (flip, flop) = (scene.host("flip"), scene.host("flop"));
            for _ in 0..FLIPS {
                renameat_with(CWD, &flip, CWD, &flop, RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_micros(50));
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            act();
        }
    });
    scene.assert_outside_untouched();
}

#[track_caller]
fn assert_raced(outcome: &Result<impl Sized, FileError>) {
    assert!(
        matches!(kind(outcome), "ok" | "outside" | "not found" | "invalid" | "not a folder"),
        "{}",
        kind(outcome)
    );
}

#[test]
fn a_read_that_races_with_a_link_never_sees_the_outside() {
    let scene = Scene::new();
    under_flips(&scene, || {
        let read = scene.read("flip/secret.txt");
        assert_raced(&read);
        assert_ne!(read.unwrap_or_default(), SECRET);
    });
}

#[test]
fn a_write_that_races_with_a_link_never_reaches_the_outside() {
    let scene = Scene::new();
    under_flips(&scene, || {
        assert_raced(&scene.write("flip/secret.txt", "evil", Replace));
        assert_raced(&scene.write("flip/a/new", "evil", Replace));
    });
}

#[test]
fn a_walk_that_races_with_a_link_never_lists_the_outside() {
    let scene = Scene::new();
    under_flips(&scene, || {
        let walk = scene.runtime.block_on(scene.root.walk(100, |_| false)).unwrap();
        assert!(walk.files.iter().all(|file| file.size != SECRET.len() as u64), "{walk:?}");
    });
}

fn piece() -> impl Strategy<Value = String> {
    let ways = "/ // . .. ... dir file out up absolute chain2 magic secret.txt sibling ../outside".split(' ');
    let tricks =
        "workspace /workspace outside through \\ \0 %2e%2e ~ ．． /etc ../../../etc/passwd".split(' ');
    prop_oneof![
        4 => proptest::sample::select(ways.collect::<Vec<_>>()).prop_map(str::to_owned),
        2 => proptest::sample::select(tricks.collect::<Vec<_>>()).prop_map(str::to_owned),
        4 => Just("/".to_owned()),
        1 => any::<String>().prop_map(|text| text.chars().take(8).collect()),
    ]
}

#[test]
fn no_text_whatsoever_names_a_file_outside() {
    let scene = trapped();
    let texts = proptest::collection::vec(piece(), 0..8).prop_map(|pieces| pieces.concat());
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in texts)| {
        let read = scene.read(&text).unwrap_or_default();
        prop_assert!(!read.contains(SECRET));
        let names = scene.names(&text).unwrap_or_default();
        prop_assert!(!names.iter().any(|name| name == MARKER || name == "root-evil"));
        let _written = scene.write(&text, "evil", Append);
        scene.assert_outside_untouched();
        if let Ok(path) = RelPath::parse(&text, "workspace") {
            prop_assert!(path.as_str().split('/').all(|name| name != ".." && name != "."));
            prop_assert!(!path.as_str().starts_with('/') && !path.as_str().ends_with('/'));
        }
    });
    assert_eq!(fs::read_to_string(scene.outside().join("secret.txt")).unwrap(), SECRET);
}

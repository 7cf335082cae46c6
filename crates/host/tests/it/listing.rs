//! Listing folders and walking through them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;

use toolgate_host::RelPath;
use toolgate_host::files::{Kind, Walk};

use crate::scene::{Scene, kind};

fn paths(walk: &Walk) -> Vec<&str> {
    walk.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn entries_are_sorted_and_say_what_they_are_without_following_links() {
    let scene = Scene::new();
    scene.put("b.md", "four");
    scene.put("folder/x", "x");
    scene.put(".toolgate-tmp-left-over", "half");
    scene.link("/etc/passwd", "a-link");
    let _listener = UnixListener::bind(scene.host("socket")).unwrap();
    let listing = scene.runtime.block_on(scene.root.list(&RelPath::root(), 100)).unwrap();
    let seen: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.kind, e.size)).collect();
    let expect = [
        ("a-link", Kind::Symlink, 0),
        ("b.md", Kind::File, 4),
        ("folder", Kind::Dir, 0),
        ("socket", Kind::Other, 0),
    ];
    assert_eq!(seen, expect);
    assert!(!listing.truncated);
    assert_eq!(scene.names("folder").unwrap(), ["x"]);
    assert_eq!(kind(&scene.names("b.md")), "not a folder");
    assert_eq!(kind(&scene.names("missing")), "not found");
}

#[test]
fn a_long_listing_is_cut_after_the_first_names() {
    let scene = Scene::new();
    for n in (0..50).rev() {
        scene.put(&format!("f{n:02}"), "");
    }
    let list = |max| scene.runtime.block_on(scene.root.list(&RelPath::root(), max)).unwrap();
    let cut = list(3);
    assert_eq!(cut.entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["f00", "f01", "f02"]);
    assert!(cut.truncated);
    assert!(!list(50).truncated);
    assert!(list(0).truncated && list(0).entries.is_empty());
}

#[test]
fn a_name_that_is_not_utf8_is_listed_but_cannot_be_opened() {
    let scene = Scene::new();
    std::fs::write(scene.root.path().join(OsStr::from_bytes(b"bad\xff.md")), "x").unwrap();
    scene.put("good", "x");
    let listing = scene.runtime.block_on(scene.root.list(&RelPath::root(), 100)).unwrap();
    let seen: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.openable)).collect();
    assert_eq!(seen, [("bad\u{fffd}.md", false), ("good", true)]);
    assert_eq!(kind(&scene.read("bad\u{fffd}.md")), "not found");
    let walk = scene.runtime.block_on(scene.root.walk(100, |_| false)).unwrap();
    assert_eq!((paths(&walk), walk.passed_over), (vec!["good"], 1));
}

#[test]
fn a_walk_finds_all_files_but_follows_no_links() {
    let scene = Scene::new();
    for path in ["z", "a/b/c", "a/x", ".git/config", "a/node_modules/y", "a/.toolgate-tmp-1"] {
        scene.put(path, "12");
    }
    scene.link("..", "a/up");
    scene.link(scene.outside(), "out");
    scene.link("z", "inside");
    let skip = |name: &str| name == ".git" || name == "node_modules";
    let walk = scene.runtime.block_on(scene.root.walk(100, skip)).unwrap();
    assert_eq!(paths(&walk), ["a/b/c", "a/x", "z"]);
    assert!(walk.files.iter().all(|file| file.size == 2 && file.modified_unix_ms > 0));
    let folders: Vec<_> = walk.folders.iter().map(RelPath::as_str).collect();
    assert_eq!(folders, ["", "a", "a/b"]);
    assert!(!walk.truncated);
    let below = RelPath::parse("a/b", "").unwrap();
    let walk = scene.runtime.block_on(scene.root.walk_under(&below, 100, skip)).unwrap();
    assert_eq!(paths(&walk), ["a/b/c"]);
}

#[test]
fn a_walk_stops_at_its_limit_always_at_the_same_place() {
    let scene = Scene::new();
    for n in 0..30 {
        scene.put(&format!("d{}/f{n:02}", n % 3), "");
    }
    let walk = scene.runtime.block_on(scene.root.walk(8, |_| false)).unwrap();
    assert_eq!(paths(&walk), ["d0/f00", "d0/f03", "d0/f06", "d0/f09", "d0/f12"]);
    assert!(walk.truncated);
}

#[test]
fn a_very_deep_folder_neither_overflows_the_stack_nor_fails_the_walk() {
    let scene = Scene::new();
    scene.put(&format!("{}leaf", "d/".repeat(1_500)), "x");
    let walk = scene.runtime.block_on(scene.root.walk(10_000, |_| false)).unwrap();
    assert_eq!(walk.files.len(), 1);
}

#[test]
fn a_path_can_be_looked_at() {
    let scene = Scene::new();
    scene.put("folder/file", "four");
    scene.link("folder/file", "link");
    scene.link("/etc", "out");
    let parse = |path| RelPath::parse(path, "").unwrap();
    let stat = |path| scene.runtime.block_on(scene.root.stat(&parse(path)));
    let exists = |path| scene.runtime.block_on(scene.root.exists(&parse(path)));
    assert_eq!((stat("link").unwrap().kind, stat("link").unwrap().size), (Kind::File, 4));
    assert_eq!(stat("folder").unwrap().kind, Kind::Dir);
    assert_eq!(stat("").unwrap().kind, Kind::Dir);
    assert_eq!(kind(&stat("out")), "outside");
    assert_eq!(kind(&stat("missing")), "not found");
    assert!(exists("folder").unwrap());
    assert!(!exists("folder/missing").unwrap());
    assert_eq!(kind(&exists("out/passwd")), "outside");
}

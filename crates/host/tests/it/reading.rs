//! Reading files and what only looks like one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use toolgate_host::files::ReadOptions;
use toolgate_host::{FileError, RelPath, Root};

use crate::scene::{LIMIT, Scene, kind};

#[test]
fn a_range_is_clipped_to_the_file_and_the_rest_is_told() {
    let scene = Scene::new();
    scene.put("ten", "0123456789");
    let check = |offset, length, expect: &str| {
        let content = scene.read_with("ten", ReadOptions { offset, length, max_bytes: 10 }).unwrap();
        assert_eq!(String::from_utf8(content.bytes).unwrap(), expect);
        assert_eq!((content.total_size, content.offset), (10, offset));
        assert!(content.modified_unix_ms > 1_600_000_000_000);
    };
    check(0, None, "0123456789");
    check(4, None, "456789");
    check(4, Some(3), "456");
    check(8, Some(u64::MAX), "89");
    check(10, None, "");
    check(11, Some(1), "");
    check(u64::MAX, Some(u64::MAX), "");
}

#[test]
fn more_than_the_limit_is_refused_with_both_sizes_but_a_range_of_it_is_read() {
    let scene = Scene::new();
    scene.put("big", vec![b'x'; 2_000]);
    let error = scene.read("big").unwrap_err();
    assert!(matches!(error, FileError::TooLarge { size: 2_000, limit: LIMIT, .. }), "{error:?}");
    assert_eq!(error.to_string(), "`big` has 2000 bytes, the limit is 1000");
    assert!(error.hint().unwrap().contains("range"));
    let options = ReadOptions { offset: 1_500, length: Some(100), max_bytes: 100 };
    assert_eq!(scene.read_with("big", options).unwrap().bytes.len(), 100);
    scene.put("exact", vec![b'x'; 1_000]);
    assert_eq!(scene.read("exact").unwrap().len(), 1_000);
}

#[test]
fn only_regular_files_are_read_and_nothing_is_waited_for() {
    let scene = Scene::new();
    scene.put("folder/file", "x");
    let _listener = UnixListener::bind(scene.host("socket")).unwrap();
    mknodat(CWD, scene.host("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let check = |path, expect| {
        let started = Instant::now();
        assert_eq!(kind(&scene.read(path)), expect, "{path}");
        assert!(started.elapsed() < Duration::from_secs(60), "{path}");
    };
    check("folder", "not a file");
    check("", "not a file");
    check("socket", "not a file");
    check("pipe", "not a file");
    check("missing", "not found");
    check("missing/file", "not found");
    check("folder/file/x", "not a folder");
}

#[test]
fn devices_are_not_read() {
    let scene = Scene::new();
    let devices = Root::open("/dev").unwrap();
    for name in ["zero", "null", "full", "random"] {
        let path = RelPath::parse(name, "").unwrap();
        let read = scene.runtime.block_on(devices.read(&path, ReadOptions::whole(10)));
        assert_eq!(kind(&read), "not a file", "{name}");
    }
}

#[test]
fn an_unreadable_file_is_a_matter_of_permission() {
    let scene = Scene::new();
    scene.put("closed", "x");
    fs::set_permissions(scene.host("closed"), PermissionsExt::from_mode(0o000)).unwrap();
    // Nothing is unreadable for root.
    let expect = if rustix::process::geteuid().is_root() { "ok" } else { "permission" };
    assert_eq!(kind(&scene.read("closed")), expect);
}

#[test]
fn a_file_that_grows_and_shrinks_meanwhile_is_read_within_the_limit() {
    let scene = Scene::new();
    scene.put("moving", "");
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let file = fs::File::options().write(true).open(scene.host("moving")).unwrap();
            for size in [0, 900, 10, 5_000, 500].into_iter().cycle() {
                file.set_len(size).unwrap();
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        for _ in 0..500 {
            match scene.read("moving") {
                Ok(text) => assert!(text.len() as u64 <= LIMIT),
                Err(error) => assert!(matches!(error, FileError::TooLarge { .. }), "{error:?}"),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn no_error_names_a_place_on_the_host() {
    let scene = Scene::new();
    scene.link("/etc", "out");
    scene.link("loop", "loop");
    scene.put("folder/file", "x");
    let errors = ["missing", "out/passwd", "loop", "folder", "folder/file/x", "/etc/passwd", "../x"];
    for error in errors.map(|path| scene.read(path).unwrap_err()) {
        let mut texts = vec![error.to_string()];
        texts.extend(std::error::Error::source(&error).map(ToString::to_string));
        let host = scene.place.path().to_str().unwrap();
        assert!(texts.iter().all(|text| !text.contains(host)), "{texts:?}");
    }
    let missing = Root::open(scene.place.path().join("nowhere")).unwrap_err();
    assert_eq!(missing.to_string(), "`.` does not exist");
}

#[test]
fn many_files_are_read_and_looked_at_in_one_go() {
    let scene = Scene::new();
    scene.put("a/b", "one");
    scene.put("big", "x".repeat(2_000));
    scene.link("a/b", "to-b");
    scene.link(scene.outside(), "out");
    let path = |text: &str| RelPath::parse(text, "").unwrap();
    let paths = ["a/b", "none", "to-b", "out/secret.txt", "big"].map(path).to_vec();
    let visit = |path: RelPath, read: Result<toolgate_host::files::FileContent, FileError>| {
        format!("{path} {} {}", kind(&read), read.map_or(0, |content| content.total_size))
    };
    let read = scene.runtime.block_on(scene.root.read_each(paths.clone(), LIMIT, visit)).unwrap();
    assert_eq!(
        read,
        ["a/b ok 3", "none not found 0", "to-b ok 3", "out/secret.txt outside 0", "big too large 0"]
    );
    let looked = scene.runtime.block_on(scene.root.look(paths)).unwrap();
    let sizes: Vec<_> = looked.into_iter().map(|entry| entry.map(|entry| (entry.kind, entry.size))).collect();
    use toolgate_host::files::Kind::{File, Symlink};
    assert_eq!(sizes, [Some((File, 3)), None, Some((Symlink, 0)), None, Some((File, 2_000))]);
}

#[test]
fn where_a_path_really_leads_is_told_without_links() {
    let scene = Scene::new();
    scene.put("a/.hidden/b", "x");
    scene.link("a/.hidden", "way");
    scene.link(scene.outside(), "out");
    let real = |text: &str| {
        let real = scene.runtime.block_on(scene.root.real(&RelPath::parse(text, "").unwrap()));
        real.map(|path| path.to_string()).map_err(|error| kind(&Err::<(), _>(error)))
    };
    assert_eq!(real("way/b"), Ok("a/.hidden/b".into()));
    assert_eq!(real("a"), Ok("a".into()));
    assert_eq!(real(""), Ok(String::new()));
    assert_eq!(real("none"), Err("not found"));
    assert_eq!(real("out/secret.txt"), Err("outside"));
    let place = scene.runtime.block_on(scene.root.place()).unwrap();
    assert_eq!(place, fs::canonicalize(scene.root.path()).unwrap());
}

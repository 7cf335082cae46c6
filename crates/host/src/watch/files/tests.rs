//! Files that are written, replaced, linked and not there yet.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

const QUIET: Duration = Duration::from_millis(30);

/// Watches files of a folder.
fn watched(folder: &TempDir, names: &[&str]) -> FileWatch {
    FileWatch::new(names.iter().map(|name| folder.path().join(name)), QUIET)
}

/// Waits for a change of exactly this file.
async fn told(watch: &mut FileWatch, folder: &TempDir, name: &str) {
    let changed = timeout(Duration::from_secs(120), watch.next()).await.expect("a change is told");
    assert_eq!(changed, [folder.path().join(name)]);
}

#[tokio::test]
async fn a_file_is_told_when_it_is_written_replaced_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "1").unwrap();
    let mut watch = watched(&folder, &["a", "b"]);
    fs::write(&file, "22").unwrap();
    told(&mut watch, &folder, "a").await;
    fs::write(folder.path().join("new"), "33").unwrap();
    fs::rename(folder.path().join("new"), &file).unwrap();
    told(&mut watch, &folder, "a").await;
    fs::remove_file(&file).unwrap();
    told(&mut watch, &folder, "a").await;
    fs::write(folder.path().join("b"), "").unwrap();
    told(&mut watch, &folder, "b").await;
}

#[tokio::test]
async fn a_file_is_told_when_it_appears_with_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watched(&folder, &["x/y/a"]);
    fs::create_dir_all(folder.path().join("x/y")).unwrap();
    fs::write(folder.path().join("x/y/a"), "1").unwrap();
    told(&mut watch, &folder, "x/y/a").await;
    fs::remove_dir_all(folder.path().join("x")).unwrap();
    told(&mut watch, &folder, "x/y/a").await;
    fs::create_dir_all(folder.path().join("x/y")).unwrap();
    fs::write(folder.path().join("x/y/a"), "1").unwrap();
    told(&mut watch, &folder, "x/y/a").await;
    fs::write(folder.path().join("x/y/a"), "2").unwrap();
    told(&mut watch, &folder, "x/y/a").await;
}

#[tokio::test]
async fn a_link_is_told_when_it_leads_elsewhere_and_when_its_target_changes() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("one")).unwrap();
    fs::create_dir(folder.path().join("two")).unwrap();
    fs::write(folder.path().join("one/a"), "1").unwrap();
    fs::write(folder.path().join("two/a"), "2").unwrap();
    symlink("one", folder.path().join("current")).unwrap();
    symlink("current/a", folder.path().join("a")).unwrap();
    let mut watch = watched(&folder, &["a"]);
    fs::write(folder.path().join("one/a"), "11").unwrap();
    told(&mut watch, &folder, "a").await;
    symlink("two", folder.path().join("next")).unwrap();
    fs::rename(folder.path().join("next"), folder.path().join("current")).unwrap();
    told(&mut watch, &folder, "a").await;
    fs::write(folder.path().join("two/a"), "22").unwrap();
    told(&mut watch, &folder, "a").await;
}

#[tokio::test]
async fn other_files_can_be_watched_instead() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watched(&folder, &["a", "b"]);
    fs::write(folder.path().join("a"), "1").unwrap();
    watch.watch([folder.path().join("a"), folder.path().join("c")]);
    told(&mut watch, &folder, "a").await;
    fs::write(folder.path().join("b"), "1").unwrap();
    fs::write(folder.path().join("c"), "1").unwrap();
    told(&mut watch, &folder, "c").await;
}

#[tokio::test]
async fn without_help_of_the_system_it_looks_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watched(&folder, &["a"]);
    watch.watcher = None;
    for text in ["1", "22"] {
        fs::write(folder.path().join("a"), text).unwrap();
        told(&mut watch, &folder, "a").await;
    }
}

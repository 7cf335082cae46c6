//! The memory tools through the hub.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use serde_json::json;
use toolgate_core::Kind;

use crate::scene::{Scene, WRITE_LIMIT};

#[tokio::test]
async fn a_memory_that_was_never_written_is_empty() {
    let scene = Scene::new();
    for input in
        [json!({}), json!({"file": "soul"}), json!({"file": "2026-07-28"}), json!({"file": "a/b.md"})]
    {
        assert_eq!(scene.text("memory_read", input).await, "");
    }
}

#[tokio::test]
async fn each_name_leads_to_its_file() {
    let scene = Scene::new();
    for (input, file) in [
        (json!({}), "MEMORY.md"),
        (json!({"file": "soul"}), "SOUL.md"),
        (json!({"file": "user-profile"}), "USER.md"),
        (json!({"file": "2026-07-28"}), "memory/2026-07-28.md"),
        (json!({"file": "memory/people/ann.md"}), "memory/people/ann.md"),
        (json!({"file": "projects"}), "memory/projects.md"),
    ] {
        let content = format!("in {file}");
        let mut writing = input.clone();
        writing["content"] = json!(content);
        let written = scene.data("memory_write", writing).await;
        assert_eq!(written, json!({"file": file, "bytes": content.len(), "created": true}));
        assert_eq!(scene.held(&format!("memory/{file}")), content);
        assert_eq!(scene.text("memory_read", input).await, content);
        assert_eq!(scene.text("memory_read", json!({"file": file})).await, content);
    }
    let mode = fs::metadata(scene.host("memory")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn a_write_replaces_unless_it_appends_on_a_new_line() {
    let scene = Scene::new();
    scene.data("memory_write", json!({"content": "old"})).await;
    scene.data("memory_write", json!({"content": "one"})).await;
    scene.data("memory_write", json!({"content": "two\n", "append": true})).await;
    scene.data("memory_write", json!({"content": "three", "append": true})).await;
    assert_eq!(scene.text("memory_read", json!({"file": "long-term"})).await, "one\ntwo\nthree");
    scene.data("memory_write", json!({"content": ""})).await;
    assert_eq!(scene.text("memory_read", json!({})).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_that_append_at_once_lose_nothing() {
    let scene = Arc::new(Scene::new());
    let owner = toolgate_host::Tasks::new();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let scene = scene.clone();
            owner.spawn(async move {
                for n in 0..10 {
                    let content = format!("{writer}.{n}");
                    scene.data("memory_write", json!({"content": content, "append": true})).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let text = scene.text("memory_read", json!({})).await;
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    let expect: Vec<_> = (0..8).flat_map(|writer| (0..10).map(move |n| format!("{writer}.{n}"))).collect();
    assert_eq!(lines, expect);
}

#[tokio::test]
async fn what_is_no_memory_is_refused() {
    let scene = Scene::new();
    fs::create_dir_all(scene.host("memory/memory")).unwrap();
    symlink("../../outside", scene.host("memory/memory/link")).unwrap();
    scene.put("memory/memory/binary.md", [0xff, 0xfe]);
    scene.put("memory/memory/large.md", "x".repeat(usize::try_from(WRITE_LIMIT).unwrap() + 1));
    for (file, kind) in [
        ("2026-02-30", Kind::InvalidInput),
        ("../outside/secret.txt", Kind::InvalidInput),
        ("/etc/passwd", Kind::Denied),
        ("memory/link/secret.txt", Kind::Denied),
        ("memory", Kind::InvalidInput),
        ("binary.md", Kind::InvalidInput),
        ("large.md", Kind::InvalidInput),
    ] {
        let error = scene.call("memory_read", json!({"file": file})).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{file}: {error}");
    }
    for (input, kind) in [
        (json!({"file": "memory/link/new.md", "content": "x"}), Kind::Denied),
        (json!({"file": "soul"}), Kind::InvalidInput),
        (json!({"content": "x", "append": "yes"}), Kind::InvalidInput),
        (json!({"content": "x", "path": "a"}), Kind::InvalidInput),
        (json!({"content": "x".repeat(usize::try_from(WRITE_LIMIT).unwrap() + 1)}), Kind::InvalidInput),
    ] {
        let error = scene.call("memory_write", input.clone()).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{input}: {error}");
    }
    scene.assert_outside_untouched();
}

//! Files as resources: listed, read and watched.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolgate_core::{Kind, ListKind};
use toolgate_testkit::{list, list_names};

use crate::scene::{READ_LIMIT, Scene, relisted, updated, within};

#[tokio::test]
async fn every_file_that_people_made_is_listed() {
    let scene = Scene::new();
    for path in
        ["b.md", "a/größe 1.txt", "Makefile", ".env", ".git/config", "node_modules/m.js", "target/t.rs"]
    {
        scene.put(&format!("work/{path}"), "four");
    }
    symlink("../outside/secret.txt", scene.host("work/link.txt")).unwrap();
    scene.put("memory/SOUL.md", "kind");
    scene.put("memory/memory/2026-07-28.md", "");
    scene.put("memory/other.md", "no memory");
    let listed = within(list(&scene.hub, ListKind::Resources, None)).await;
    let expect = json!([
        {"uri": "workspace:///Makefile", "name": "Makefile", "size": 4},
        {"uri": "workspace:///a/gr%C3%B6%C3%9Fe%201.txt", "name": "a/größe 1.txt", "mimeType": "text/plain", "size": 4},
        {"uri": "workspace:///b.md", "name": "b.md", "mimeType": "text/markdown", "size": 4},
        {"uri": "memory:///SOUL.md", "name": "SOUL.md", "mimeType": "text/markdown", "size": 4},
        {"uri": "memory:///memory/2026-07-28.md", "name": "memory/2026-07-28.md", "mimeType": "text/markdown", "size": 0},
    ]);
    assert_eq!(listed["resources"], expect);
    let templates = list_names(&scene.hub, ListKind::Templates).await;
    assert_eq!(templates, ["workspace:///{+path}", "memory:///{+path}"]);
}

#[tokio::test]
async fn nothing_is_looked_at_before_someone_looks() {
    let scene = Scene::with(|_| None);
    let before = scene.hub.tasks().len();
    list_names(&scene.hub, ListKind::Tools).await;
    list_names(&scene.hub, ListKind::Templates).await;
    // One task keeps the catalog of this principal.
    assert_eq!(scene.hub.tasks().len(), before + 1);
    assert!(!scene.host("own").exists() && !scene.host("memory").exists());
    assert_eq!(within(list_names(&scene.hub, ListKind::Resources)).await, [""; 0]);
    assert!(scene.host("own").is_dir());
}

#[tokio::test]
async fn a_resource_is_read_as_text_or_as_a_blob() {
    let scene = Scene::new();
    scene.put("work/a b.md", "# hi");
    scene.put("work/image.png", [0x89, b'P', b'N', b'G', 0, 255]);
    scene.put("work/Makefile", "all:");
    scene.put("work/data", [0xff]);
    scene.put("work/.env", "A=1");
    scene.put("memory/MEMORY.md", "remember");
    for (uri, media_type, key, content) in [
        ("workspace:///a%20b.md", "text/markdown", "text", "# hi"),
        ("workspace:///a b.md", "text/markdown", "text", "# hi"),
        ("workspace:///image.png", "image/png", "blob", "iVBORwD/"),
        ("workspace:///Makefile", "text/plain", "text", "all:"),
        ("workspace:///data", "application/octet-stream", "blob", "/w=="),
        ("workspace:///.env", "text/plain", "text", "A=1"),
        ("memory:///MEMORY.md", "text/markdown", "text", "remember"),
    ] {
        let read = scene.read(uri).await.unwrap();
        let expect: Value = json!({"contents": [{"uri": uri, "mimeType": media_type, key: content}]});
        assert_eq!(read, expect);
    }
}

#[tokio::test]
async fn a_uri_without_a_file_is_not_found() {
    let scene = Scene::new();
    scene.put("work/folder/x", "x");
    scene.put("memory/other.md", "no memory");
    symlink("../outside", scene.host("work/link")).unwrap();
    for uri in [
        "workspace:///nope.md",
        "workspace:///folder",
        "workspace:///../outside/secret.txt",
        "workspace:///%2e%2e/outside/secret.txt",
        "workspace:////etc/passwd",
        "workspace:///link/secret.txt",
        "workspace:///a%zz",
        "workspace://host/folder/x",
        "workspace:folder/x",
        "memory:///other.md",
        "memory:///MEMORY.md",
        "vault:///x",
    ] {
        let error = scene.read(uri).await.unwrap_err();
        assert_eq!(error.kind(), Kind::ResourceNotFound, "{uri}");
        assert_eq!(error.detail().unwrap().to::<Value>().unwrap(), json!({"uri": uri}));
    }
    scene.put("work/large", "x".repeat(usize::try_from(READ_LIMIT).unwrap() + 1));
    let error = scene.read("workspace:///large").await.unwrap_err();
    assert_eq!(error.message(), "`large` has 1001 bytes, the limit is 1000");
    assert_eq!(error.next_step(), Some("call `workspace_read` with `offset` and `length`"));
}

#[tokio::test]
async fn files_that_come_go_and_change_are_told() {
    let scene = Scene::new();
    scene.put("work/old.md", "1");
    let mut changes = scene.changes();
    relisted(&scene.hub, &mut changes, &["workspace:///old.md"]).await;
    scene.data("workspace_write", json!({"path": "new/file.md", "content": "x"})).await;
    relisted(&scene.hub, &mut changes, &["workspace:///new/file.md", "workspace:///old.md"]).await;
    // The same size: only what it holds is different.
    scene.put("work/old.md", "2");
    updated(&mut changes, "workspace:///old.md").await;
    scene.data("workspace_write", json!({"path": "new/file.md", "content": "y"})).await;
    updated(&mut changes, "workspace:///new/file.md").await;
    fs::remove_dir_all(scene.host("work/new")).unwrap();
    relisted(&scene.hub, &mut changes, &["workspace:///old.md"]).await;
    scene.data("memory_write", json!({"content": "x"})).await;
    relisted(&scene.hub, &mut changes, &["workspace:///old.md", "memory:///MEMORY.md"]).await;
}

#[tokio::test]
async fn who_watches_a_resource_need_not_have_listed_it() {
    let scene = Scene::new();
    scene.put("work/a.md", "1");
    let mut changes = scene.changes();
    scene.subscribe("workspace:///a.md").await.unwrap();
    assert_eq!(scene.subscribe("memory:///other.md").await.unwrap_err().kind(), Kind::ResourceNotFound);
    relisted(&scene.hub, &mut changes, &["workspace:///a.md"]).await;
    scene.put("work/a.md", "22");
    updated(&mut changes, "workspace:///a.md").await;
}

#[tokio::test]
async fn no_more_than_five_thousand_files_are_listed() {
    let scene = Scene::new();
    for n in 0..5_010 {
        scene.put(&format!("work/{n}"), "");
    }
    let (mut count, mut cursor) = (0, None);
    loop {
        let page = within(list(&scene.hub, ListKind::Resources, cursor.as_deref())).await;
        count += page["resources"].as_array().unwrap().len();
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(count, 5_000);
}

//! `workspace_write` through the hub.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use toolgate_core::Kind;

use crate::scene::{SECRET, Scene, WRITE_LIMIT};

#[tokio::test]
async fn a_write_makes_folders_and_says_what_it_did() {
    let scene = Scene::new();
    let input = json!({"path": "/workspace/a/b/c.md", "content": "héllo"});
    let written = scene.data("workspace_write", input).await;
    assert_eq!(written, json!({"path": "a/b/c.md", "bytes": 6, "created": true}));
    assert_eq!(scene.held("work/a/b/c.md"), "héllo");
    let again = scene.data("workspace_write", json!({"path": "a/b/c.md", "content": ""})).await;
    assert_eq!(again, json!({"path": "a/b/c.md", "bytes": 0, "created": false}));
    assert_eq!(scene.held("work/a/b/c.md"), "");
}

#[tokio::test]
async fn each_mode_treats_what_is_there_in_its_own_way() {
    let scene = Scene::new();
    let write = async |mode: &str, content: &str| {
        scene.call("workspace_write", json!({"path": "log", "content": content, "mode": mode})).await
    };
    write("create", "one").await.unwrap();
    write("append", "two").await.unwrap();
    assert_eq!(scene.held("work/log"), "onetwo");
    let error = write("create", "three").await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::InvalidInput, "`log` exists already"));
    write("replace", "four").await.unwrap();
    assert_eq!(scene.held("work/log"), "four");
    assert_eq!(write("truncate", "x").await.unwrap_err().kind(), Kind::InvalidInput);
}

#[tokio::test]
async fn base64_is_written_as_the_bytes_it_stands_for() {
    let scene = Scene::new();
    let input = json!({"path": "image.png", "content": "iVBORwD/", "encoding": "base64"});
    assert_eq!(scene.data("workspace_write", input).await["bytes"], 6);
    assert_eq!(fs::read(scene.host("work/image.png")).unwrap(), [0x89, b'P', b'N', b'G', 0, 255]);
    let input = json!({"path": "other", "content": "no base64!", "encoding": "base64"});
    let error = scene.call("workspace_write", input).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::InvalidInput, "`content` is not base64"));
    assert!(!scene.host("work/other").exists());
}

#[tokio::test]
async fn nothing_outside_is_written_by_any_way() {
    let scene = Scene::new();
    scene.put("work/folder/x", "x");
    symlink(scene.host("outside/secret.txt"), scene.host("work/absolute-link")).unwrap();
    symlink("../outside/secret.txt", scene.host("work/relative-link")).unwrap();
    symlink("../outside/new.txt", scene.host("work/dangling-link")).unwrap();
    symlink("../outside", scene.host("work/folder-link")).unwrap();
    mknodat(CWD, scene.host("work/pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for (path, kind) in [
        ("/workspace/../outside/secret.txt", Kind::InvalidInput),
        ("../work-evil/new.txt", Kind::InvalidInput),
        ("/etc/toolgate-test", Kind::Denied),
        ("absolute-link", Kind::Denied),
        ("relative-link", Kind::Denied),
        ("dangling-link", Kind::Denied),
        ("folder-link/new.txt", Kind::Denied),
        ("folder-link/deeper/new.txt", Kind::Denied),
        ("pipe", Kind::InvalidInput),
        ("folder", Kind::InvalidInput),
        ("folder/x/y", Kind::InvalidInput),
        ("", Kind::InvalidInput),
    ] {
        for mode in ["replace", "append"] {
            let input = json!({"path": path, "content": "evil", "mode": mode});
            let error = scene.call("workspace_write", input).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{path} {mode}: {error}");
        }
    }
    scene.assert_outside_untouched();
}

#[tokio::test]
async fn what_is_run_or_obeyed_is_not_written_by_any_way() {
    let scene = Scene::new();
    scene.put("work/.git/hooks/pre-commit", "mine");
    scene.put("work/toolgate.toml", "mine");
    scene.put("work/gate/own.toml", "mine");
    symlink("gate", scene.host("work/door")).unwrap();
    symlink(".git/hooks", scene.host("work/hooks")).unwrap();
    symlink("toolgate.toml", scene.host("work/notes.md")).unwrap();
    for path in [
        "toolgate.toml",
        "below/Toolgate.TOML",
        ".git/hooks/pre-commit",
        ".git/config",
        "module/.GIT/hooks/post-checkout",
        "hooks/pre-commit",
        "hooks/post-merge",
        "notes.md",
        "gate/own.toml",
        "door/own.toml",
    ] {
        for mode in ["replace", "append"] {
            let input = json!({"path": path, "content": "evil", "mode": mode});
            let error = scene.call("workspace_write", input).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (Kind::Denied, &*format!("`{path}` is protected")));
        }
    }
    assert_eq!(scene.held("work/.git/hooks/pre-commit"), "mine");
    assert_eq!(scene.held("work/toolgate.toml"), "mine");
    assert_eq!(scene.held("work/gate/own.toml"), "mine");
    assert!(!scene.host("work/below").exists() && !scene.host("work/module").exists());
    scene.data("workspace_write", json!({"path": ".gitignore", "content": "target"})).await;
    scene.data("workspace_write", json!({"path": "gate/other.toml", "content": "mine"})).await;
}

#[tokio::test]
async fn a_hard_link_elsewhere_keeps_its_content() {
    let scene = Scene::new();
    fs::hard_link(scene.host("outside/secret.txt"), scene.host("work/hard")).unwrap();
    scene.data("workspace_write", json!({"path": "hard", "content": "+", "mode": "append"})).await;
    assert_eq!(scene.held("work/hard"), format!("{SECRET}+"));
    scene.data("workspace_write", json!({"path": "hard", "content": "new"})).await;
    scene.assert_outside_untouched();
}

#[tokio::test]
async fn the_limit_holds_for_the_file_as_it_would_be() {
    let scene = Scene::new();
    let most = usize::try_from(WRITE_LIMIT).unwrap();
    scene.data("workspace_write", json!({"path": "full", "content": "x".repeat(most)})).await;
    for input in [
        json!({"path": "full", "content": "y", "mode": "append"}),
        json!({"path": "full", "content": "y".repeat(most + 1)}),
    ] {
        let error = scene.call("workspace_write", input).await.unwrap_err();
        assert_eq!(error.message(), format!("`full` has {} bytes, the limit is {WRITE_LIMIT}", most + 1));
        assert_eq!(error.kind(), Kind::InvalidInput);
    }
    assert_eq!(scene.held("work/full"), "x".repeat(most));
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_at_once_leave_one_of_their_texts_and_nothing_else() {
    let scene = Arc::new(Scene::new());
    let owner = toolgate_host::Tasks::new();
    let writers: Vec<_> = (0..8)
        .map(|n| {
            let scene = scene.clone();
            owner.spawn(async move {
                for _ in 0..5 {
                    let content = n.to_string().repeat(1_000);
                    scene.data("workspace_write", json!({"path": "shared", "content": content})).await;
                    let text = scene.text("workspace_read", json!({"path": "shared"})).await;
                    assert_eq!(text.len(), 1_000);
                    assert!(text.chars().all(|c| text.starts_with(c)), "mixed");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(fs::read_dir(scene.host("work")).unwrap().count(), 1);
}

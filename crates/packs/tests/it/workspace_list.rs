//! `workspace_list` through the hub.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::scene::Scene;

fn paths(listed: &Value) -> Vec<&str> {
    listed["items"].as_array().unwrap().iter().map(|item| item["path"].as_str().unwrap()).collect()
}

fn tree() -> Scene {
    let scene = Scene::new();
    for path in
        ["b.md", "a/x.txt", "a/deep/y", "a.md", ".env", ".git/config", "node_modules/m/i.js", "target/t"]
    {
        scene.put(&format!("work/{path}"), "four");
    }
    fs::create_dir(scene.host("work/empty")).unwrap();
    symlink("../outside", scene.host("work/link")).unwrap();
    scene
}

#[tokio::test]
async fn a_folder_is_listed_in_order_with_what_each_entry_is() {
    let scene = tree();
    for input in [json!({}), json!({"path": "/workspace"}), json!({"path": "."})] {
        let listed = scene.data("workspace_list", input).await;
        let expect = [".env", ".git", "a", "a.md", "b.md", "empty", "link", "node_modules", "target"];
        assert_eq!(paths(&listed), expect);
        assert_eq!(listed["truncated"], false);
    }
    let listed = scene.data("workspace_list", json!({"path": "a"})).await;
    assert_eq!(paths(&listed), ["a/deep", "a/x.txt"]);
    let file = &listed["items"][1];
    assert_eq!((&file["kind"], &file["size"]), (&json!("file"), &json!(4)));
    assert!(file["modified"].as_str().unwrap().starts_with("20"), "{file}");
    assert_eq!(listed["items"][0]["kind"], "folder");
    assert_eq!(scene.data("workspace_list", json!({"path": "empty"})).await["items"], json!([]));
}

#[tokio::test]
async fn below_folders_all_is_listed_but_what_programs_fill() {
    let scene = tree();
    let listed = scene.data("workspace_list", json!({"recursive": true})).await;
    let expect = [
        ".env",
        ".git",
        "a",
        "a/deep",
        "a/deep/y",
        "a/x.txt",
        "a.md",
        "b.md",
        "empty",
        "link",
        "node_modules",
        "target",
    ];
    assert_eq!(paths(&listed), expect);
    assert_eq!(listed["items"][9]["kind"], "symlink");
    let inside = scene.data("workspace_list", json!({"path": "node_modules", "recursive": true})).await;
    assert_eq!(paths(&inside), ["node_modules/m", "node_modules/m/i.js"]);
}

#[tokio::test]
async fn a_list_that_is_cut_says_so() {
    let scene = tree();
    for (recursive, limit, expect) in [
        (false, 2, vec![".env", ".git"]),
        (true, 4, vec![".env", ".git", "a", "a/deep"]),
        (true, 5, vec![".env", ".git", "a", "a/deep", "a/deep/y"]),
        (true, 1, vec![".env"]),
    ] {
        let listed = scene.data("workspace_list", json!({"recursive": recursive, "limit": limit})).await;
        assert_eq!((paths(&listed), &listed["truncated"]), (expect, &json!(true)), "{limit}");
    }
    let all = scene.data("workspace_list", json!({"recursive": true, "limit": 12})).await;
    assert_eq!(all["truncated"], false);
}

#[tokio::test]
async fn a_thousand_entries_are_enough_unless_more_are_asked_for() {
    let scene = Scene::new();
    for n in 0..1_100 {
        scene.put(&format!("work/many/{n:04}"), "");
    }
    let some = scene.data("workspace_list", json!({"path": "many"})).await;
    assert_eq!((paths(&some).len(), &some["truncated"]), (1_000, &json!(true)));
    let all = scene.data("workspace_list", json!({"path": "many", "limit": 10_000})).await;
    assert_eq!((paths(&all).len(), &all["truncated"]), (1_100, &json!(false)));
}

#[tokio::test]
async fn what_cannot_be_listed_is_refused() {
    let scene = tree();
    for (input, kind) in [
        (json!({"path": "nope"}), Kind::FileNotFound),
        (json!({"path": "b.md"}), Kind::InvalidInput),
        (json!({"path": ".."}), Kind::InvalidInput),
        (json!({"path": "/"}), Kind::Denied),
        (json!({"path": "link"}), Kind::Denied),
        (json!({"limit": 0}), Kind::InvalidInput),
        (json!({"limit": 10_001}), Kind::InvalidInput),
        (json!({"recursive": "yes"}), Kind::InvalidInput),
        (json!({"depth": 2}), Kind::InvalidInput),
    ] {
        let error = scene.call("workspace_list", input.clone()).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{input}: {error}");
    }
}

//! Files of the project: exact, found, and never from elsewhere.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};
use toolgate_core::Kind;
use toolgate_host::Program;

use crate::stage::STAGE;

static PROJECT: LazyLock<PathBuf> = LazyLock::new(project);

/// A project of its own, under version control.
fn project() -> PathBuf {
    let stage = &*STAGE;
    let folder = stage.home.join("files");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("exact.txt"), "\n  spaces stay  \n\n").unwrap();
    fs::write(folder.join("bytes.bin"), [0xff, 0, 0xfe]).unwrap();
    let lines: String = (0..25).map(|place| format!("needle {place}\n")).collect();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/many.rs"), format!("{lines}pub fn parse_all() {{}}\n")).unwrap();
    for arguments in [
        vec!["init", "-q"],
        vec!["add", "exact.txt"],
        vec!["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"],
    ] {
        let place = ["-C", folder.to_str().unwrap()];
        let git =
            Program::new("/usr/bin/git").arguments(place).arguments(arguments).variable("HOME", "/nowhere");
        let ended = stage.run(git.run()).unwrap();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    fs::write(folder.join("exact.txt"), "\n  spaces stay  \n\nand more\n").unwrap();
    folder
}

fn with(mut arguments: Value) -> Value {
    arguments["workingDirectory"] = PROJECT.to_str().unwrap().into();
    arguments
}

#[track_caller]
fn call(tool: &str, arguments: Value) -> Value {
    let stage = &*STAGE;
    let arguments = with(arguments);
    stage.run(stage.call(tool, arguments))
}

#[track_caller]
fn refused(tool: &str, arguments: Value, kind: Kind) {
    let stage = &*STAGE;
    let arguments = with(arguments);
    let error = stage.run(stage.fails(tool, arguments));
    assert_eq!(error.kind(), kind, "{error}");
    assert!(!error.suggestions().is_empty(), "{error}");
}

#[test]
fn a_file_is_read_exactly_and_a_missing_one_is_an_error() {
    let out = call("opencode_file_read", json!({"path": "exact.txt"}));
    assert_eq!(out["content"], "\n  spaces stay  \n\nand more\n");
    let out = call("opencode_file_read", json!({"path": "bytes.bin"}));
    assert_eq!((&out["content"], &out["encoding"]), (&json!("/wD+"), &json!("base64")));
    refused("opencode_file_read", json!({"path": "nope.txt"}), Kind::FileNotFound);
    refused("opencode_file_read", json!({"path": "../x"}), Kind::InvalidInput);
    refused("opencode_file_read", json!({"path": "/etc/passwd"}), Kind::Denied);
}

#[test]
fn a_search_finds_more_than_ten_and_refuses_what_is_no_pattern() {
    let out = call("opencode_file_search", json!({"pattern": "needle \\d+"}));
    assert_eq!(out["items"].as_array().unwrap().len(), 25);
    assert_eq!(out["items"][3], json!({"path": "src/many.rs", "line": 4, "text": "needle 3"}));
    let out = call("opencode_file_search", json!({"pattern": "needle", "directory": "src", "limit": 2}));
    assert_eq!((out["items"].as_array().unwrap().len(), &out["truncated"]), (2, &json!(true)));
    refused("opencode_file_search", json!({"pattern": "("}), Kind::InvalidInput);
    refused("opencode_file_search", json!({"pattern": "x", "directory": "../x"}), Kind::InvalidInput);
    refused("opencode_file_search", json!({"pattern": "x", "directory": "nope"}), Kind::FileNotFound);
}

#[test]
fn symbols_files_and_changes_are_found() {
    let out = call("opencode_find_symbols", json!({"query": "parse"}));
    let symbol = json!({"name": "parse_all", "kind": "fn", "path": "src/many.rs", "line": 26});
    assert_eq!(out["items"], json!([symbol]));
    let out = call("opencode_find_files", json!({"query": "many", "type": "file"}));
    assert!(out["items"].as_array().unwrap().contains(&json!("src/many.rs")), "{out}");
    refused("opencode_find_files", json!({"query": "x", "type": "socket"}), Kind::InvalidInput);
    let out = call("opencode_file_status", json!({"path": "exact.txt"}));
    let changed = json!({"path": "exact.txt", "status": "modified", "added": 1, "removed": 0});
    assert_eq!(out["items"], json!([changed]));
    let out = call("opencode_file_status", json!({}));
    assert!(out["items"].as_array().unwrap().len() >= 2, "{out}");
}

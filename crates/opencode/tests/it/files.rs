//! Files of the project: exact, found, and never from elsewhere.

use std::fs;
use std::sync::LazyLock;

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::stage::{STAGE, commit};

/// The files, made once.
static FILES: LazyLock<()> = LazyLock::new(files);

/// A folder of the project, partly under version control.
fn files() {
    let stage = &*STAGE;
    let folder = stage.project.join("files");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("exact.txt"), "\n  spaces stay  \n\n").unwrap();
    stage.run(commit(&stage.project, "files/exact.txt"));
    fs::write(folder.join("exact.txt"), "\n  spaces stay  \n\nand more\n").unwrap();
    fs::write(folder.join("bytes.bin"), [0xff, 0, 0xfe]).unwrap();
    let lines: String = (0..25).map(|place| format!("needle {place}\n")).collect();
    fs::write(folder.join("src/many.rs"), format!("{lines}pub fn parse_all() {{}}\n")).unwrap();
}

#[track_caller]
fn call(tool: &str, arguments: Value) -> Value {
    let (stage, ()) = (&*STAGE, *FILES);
    stage.run(stage.call(tool, arguments))
}

#[track_caller]
fn refused(tool: &str, arguments: Value, kind: Kind) {
    let (stage, ()) = (&*STAGE, *FILES);
    let error = stage.run(stage.fails(tool, arguments));
    assert_eq!(error.kind(), kind, "{error}");
    assert!(!error.suggestions().is_empty(), "{error}");
}

#[test]
fn a_file_is_read_exactly_and_a_missing_one_is_an_error() {
    let out = call("opencode_file_read", json!({"path": "files/exact.txt"}));
    assert_eq!(out["content"], "\n  spaces stay  \n\nand more\n");
    let out = call("opencode_file_read", json!({"path": "files/bytes.bin"}));
    assert_eq!((&out["content"], &out["encoding"]), (&json!("/wD+"), &json!("base64")));
    refused("opencode_file_read", json!({"path": "nope.txt"}), Kind::FileNotFound);
    refused("opencode_file_read", json!({"path": "../x"}), Kind::InvalidInput);
    refused("opencode_file_read", json!({"path": "/etc/passwd"}), Kind::Denied);
}

#[test]
fn a_search_finds_more_than_ten_and_refuses_what_is_no_pattern() {
    let out = call("opencode_file_search", json!({"pattern": "needle \\d+"}));
    assert_eq!(out["items"].as_array().unwrap().len(), 25);
    assert_eq!(out["items"][3], json!({"path": "files/src/many.rs", "line": 4, "text": "needle 3"}));
    let out =
        call("opencode_file_search", json!({"pattern": "needle", "directory": "files/src", "limit": 2}));
    assert_eq!((out["items"].as_array().unwrap().len(), &out["truncated"]), (2, &json!(true)));
    refused("opencode_file_search", json!({"pattern": "("}), Kind::InvalidInput);
    refused("opencode_file_search", json!({"pattern": "x", "directory": "../x"}), Kind::InvalidInput);
    refused("opencode_file_search", json!({"pattern": "x", "directory": "nope"}), Kind::FileNotFound);
}

#[test]
fn symbols_files_and_changes_are_found() {
    let out = call("opencode_find_symbols", json!({"query": "parse"}));
    let symbol = json!({"name": "parse_all", "kind": "fn", "path": "files/src/many.rs", "line": 26});
    assert_eq!(out["items"], json!([symbol]));
    let out = call("opencode_find_files", json!({"query": "many", "type": "file"}));
    assert!(out["items"].as_array().unwrap().contains(&json!("files/src/many.rs")), "{out}");
    refused("opencode_find_files", json!({"query": "x", "type": "socket"}), Kind::InvalidInput);
    let out = call("opencode_file_status", json!({"path": "files/exact.txt"}));
    let changed = json!({"path": "files/exact.txt", "status": "modified", "added": 1, "removed": 0});
    assert_eq!(out["items"], json!([changed]));
    let out = call("opencode_file_status", json!({}));
    assert!(out["items"].as_array().unwrap().len() >= 2, "{out}");
}

#[test]
fn no_folder_but_the_project_can_be_named() {
    let outside = STAGE.home.to_str().unwrap();
    for (tool, mut arguments) in [
        ("opencode_file_read", json!({"path": "notes.txt"})),
        ("opencode_file_search", json!({"pattern": "x"})),
        ("opencode_find_files", json!({"query": "x"})),
        ("opencode_find_symbols", json!({"query": "x"})),
        ("opencode_file_status", json!({})),
        ("opencode_skill_create", json!({"name": "x", "description": "x", "content": "x"})),
    ] {
        arguments["workingDirectory"] = outside.into();
        refused(tool, arguments, Kind::InvalidInput);
    }
    for (tool, mut arguments) in [
        ("opencode_config_update", json!({"defaultAgent": "plan"})),
        ("opencode_model_configure", json!({"provider": "fake", "model": "fake-1", "options": {"x": 1}})),
        ("opencode_permission_set", json!({"tool": "bash", "permission": "allow"})),
        ("opencode_tool_configure", json!({"tools": {"bash": true}})),
        ("opencode_mcp_add", json!({"name": "x", "type": "local", "command": ["/bin/false"]})),
        ("opencode_mcp_enable", json!({"name": "x", "enabled": true})),
        ("opencode_mcp_remove", json!({"name": "x"})),
    ] {
        arguments["workingDirectory"] = outside.into();
        arguments["scope"] = "project".into();
        refused(tool, arguments, Kind::Denied);
    }
    for (tool, mut arguments) in [
        ("opencode_model_list", json!({"refresh": true})),
        ("opencode_provider_list", json!({})),
        ("opencode_config_get", json!({})),
        ("opencode_mcp_list", json!({})),
        ("opencode_skill_list", json!({})),
        ("opencode_skill_load", json!({"name": "x"})),
        ("opencode_agent_list", json!({})),
        ("opencode_tool_list", json!({})),
        ("opencode_session_list", json!({})),
        ("opencode_auth_set", json!({"provider": "fake", "type": "api", "key": "sk-of-outside"})),
    ] {
        arguments["workingDirectory"] = outside.into();
        refused(tool, arguments, Kind::Denied);
    }
    assert!(!STAGE.home.join("opencode.jsonc").exists());
}

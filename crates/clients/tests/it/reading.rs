//! The entries of others, as each client writes them.

use toolgate_clients::{Client, Entry};

use crate::scene::Scene;

/// An entry in one line.
fn shown(entry: &Entry) -> String {
    let off = if entry.enabled { "" } else { " (off)" };
    format!("{}: {:?}{off}", entry.name, entry.server)
}

#[track_caller]
fn check(client: Client, content: &str) -> String {
    let file = Scene::new(client, content).read().unwrap();
    file.entries().iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[test]
fn entries_of_claude_and_its_kin() {
    let content = r#"{
        "numStartups": 12,
        "mcpServers": {
            "files": {"type": "stdio", "command": "npx", "args": ["-y", "files", 1], "env": {"A": "b", "N": 1}},
            "notion": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "k"}},
            "old": {"type": "sse", "url": "https://a.example/sse", "disabled": true},
            "wind": {"serverUrl": "https://b.example/mcp"},
            "odd": {"comment": "none of these"},
            "odder": 1,
        },
        "projects": {"/p": {"mcpServers": {"inner": {"command": "x"}}}}
    }"#;
    insta::assert_snapshot!(check(Client::ClaudeCode, content));
}

#[test]
fn entries_of_opencode() {
    let content = r#"{
        "$schema": "https://opencode.ai/config.json",
        "mcp": {
            "files": {"type": "local", "command": ["npx", "-y", "files"], "environment": {"A": "b"}, "enabled": false},
            "jira": {"type": "remote", "url": "https://a.example/mcp", "headers": {"X-Key": "k"}},
            "switched": {"enabled": true},
        }
    }"#;
    insta::assert_snapshot!(check(Client::OpenCode, content));
}

#[test]
fn entries_of_codex() {
    let content = r#"
model = "gpt"

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]
env = { A = "b" }
startup_timeout_sec = 10

[mcp_servers.docs]
url = "https://a.example/mcp"
enabled = false
bearer_token_env_var = "TOKEN"
http_headers = { "X-Key" = "k" }
"#;
    insta::assert_snapshot!(check(Client::Codex, content));
    let file = Scene::new(Client::Codex, content).read().unwrap();
    assert_eq!(file.entry("docs").unwrap().written["bearer_token_env_var"], "TOKEN", "nothing is lost");
}

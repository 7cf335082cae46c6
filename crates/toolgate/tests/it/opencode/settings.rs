//! What is set for OpenCode, and what other people do meanwhile.

use std::fs;

use serde_json::{Value, json};

use super::{Scene, Way};
use crate::process::{Place, Server, run, until};

#[test]
fn a_change_for_all_projects_waits_for_what_others_do_in_another() {
    let scene = Scene::new("waiting");
    let other = scene.beside("working");
    let session = other.tell("/session", &json!({"title": "Of others"}));
    let id = session["id"].as_str().unwrap();
    let slow = json!({"parts": [{"type": "text", "text": "think slowly"}]});
    other.tell(&format!("/session/{id}/prompt_async"), &slow);
    until("the session works", || other.is_busy(id));
    let mut way = Way::Http(Server::start_in(scene.place(), &[]));
    let change = |scope: &str| json!({"tool": "webfetch", "permission": "deny", "scope": scope});
    let refused = way.call("opencode_permission_set", change("global"));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains(id), "{refused}");
    assert!(other.is_busy(id));
    // What counts for this project alone does not concern it.
    way.done("opencode_permission_set", change("project"));
    assert!(other.is_busy(id));
    other.tell(&format!("/session/{id}/abort"), &json!({}));
    until("the session stands still", || !other.is_busy(id));
}

/// Calls a tool with a default model; its structured content.
fn call(place: &Place, tool: &str, arguments: &[&str]) -> Value {
    let mut command = place.toolgate(&["tools", "call", tool]);
    command.args(arguments).arg("--json").env("OPENCODE_DEFAULT_MODEL", "fake/deep/er/name");
    let ended = run(command, b"");
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str::<Value>(&ended.stdout).unwrap()["structuredContent"].clone()
}

#[test]
fn the_default_model_counts_where_nothing_else_names_one() {
    let scene = Scene::new("model");
    let agent = json!({"mode": "primary", "prompt": "x", "model": "fake/fake-1"});
    fs::write(scene.path("opencode.jsonc"), json!({"agent": {"own": agent}}).to_string()).unwrap();
    let place = scene.place();
    let check = |tool: &str, arguments: &[&str], model: &str| {
        let out = call(&place, tool, arguments);
        assert_eq!(out["model"], model, "{tool} {arguments:?}: {out}");
    };
    check("opencode_run", &["prompt=hello"], "fake/deep/er/name");
    check("opencode_run", &["prompt=hello", "model=fake/fake-1"], "fake/fake-1");
    check("opencode_run", &["prompt=hello", "agent=own"], "fake/fake-1");
    check("opencode_agent_delegate", &["prompt=hello", "agent=plan"], "fake/deep/er/name");
    check("opencode_agent_delegate", &["prompt=hello", "agent=own"], "fake/fake-1");
    // A session that others made goes on with its own.
    let model = json!({"providerID": "fake", "id": "fake-1"});
    let session = scene.tell("/session", &json!({"title": "Of others", "model": model}));
    let id = format!("sessionId={}", session["id"].as_str().unwrap());
    check("opencode_session_prompt", &[&id, "prompt=hello"], "fake/fake-1");
    check("opencode_agent_delegate", &[&id, "prompt=hello", "agent=plan"], "fake/fake-1");
    let made = call(&place, "opencode_session_create", &["title=Made"]);
    let id = format!("sessionId={}", made["sessionId"].as_str().unwrap());
    check("opencode_session_prompt", &[&id, "prompt=hello"], "fake/deep/er/name");
}

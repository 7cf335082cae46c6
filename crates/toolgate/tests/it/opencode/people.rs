//! OpenCode asks before it runs a command: clients of either era answer, and where none can, the policy does.

use std::path::Path;

use serde_json::{Value, json};

use super::{Scene, Way};
use crate::message::{call, initialize, notification, post_modern};
use crate::process::{Server, Stdio};

/// A prompt that leaves a file behind if it is allowed.
fn touch(scene: &Scene, name: &str) -> Value {
    json!({"prompt": format!("run bash: touch {}", scene.path(name))})
}

#[test]
fn a_legacy_client_is_asked_by_a_request() {
    let scene = Scene::new("legacy");
    let mut stdio = Stdio::start_in(scene.place(), &[]);
    stdio.ask(initialize("2025-11-25"));
    stdio.send(notification("notifications/initialized", &json!({})));
    let mut check = |name: &str, answer: Value, happens: bool| {
        let question = stdio.ask(call(1, "opencode_run", touch(&scene, name)));
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(question["params"]["message"].as_str().unwrap().contains("touch"), "{question}");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        let done = stdio.ask(answer.to_string());
        assert_eq!(done["result"]["structuredContent"]["asked"][0]["by"], "person", "{done}");
        assert_eq!(Path::new(&scene.path(name)).exists(), happens, "{done}");
    };
    check("allowed", json!({"action": "accept", "content": {"reply": "once"}}), true);
    check("rejected", json!({"action": "accept", "content": {"reply": "reject"}}), false);
    check("declined", json!({"action": "decline"}), false);
}

#[test]
fn a_modern_client_is_asked_by_a_result() {
    let scene = Scene::new("modern");
    let server = Server::start_in(scene.place(), &[]);
    // An answer as one body or as a stream; what counts is its last message.
    let ask = |params: Value| {
        let open = post_modern(&server, "tools/call", 1, params).open();
        match open.head.header("content-type") {
            Some("text/event-stream") => open.messages().pop().unwrap(),
            _ => open.whole().json(),
        }
    };
    let mut params = json!({"name": "opencode_run", "arguments": touch(&scene, "allowed")});
    let first = ask(params.clone());
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    assert!(!Path::new(&scene.path("allowed")).exists());
    let key = first["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap();
    params["inputResponses"] = json!({key: {"action": "accept", "content": {"reply": "once"}}});
    params["requestState"] = first["result"]["requestState"].clone();
    let done = ask(params);
    assert_eq!(done["result"]["structuredContent"]["asked"][0]["answer"], "once", "{done}");
    assert!(Path::new(&scene.path("allowed")).exists());
}

#[test]
fn where_nobody_can_be_asked_it_is_denied_and_says_how_to_allow_it() {
    let scene = Scene::new("alone");
    let mut way = Way::Http(Server::start_in(scene.place(), &[]));
    let out = way.done("opencode_run", touch(&scene, "denied"));
    assert_eq!((&out["asked"][0]["by"], &out["asked"][0]["answer"]), (&json!("policy"), &json!("reject")));
    assert!(out["content"].as_str().unwrap().contains("opencode.permissions.allow"), "{out}");
    assert!(!Path::new(&scene.path("denied")).exists());
}

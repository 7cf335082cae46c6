//! Calls of fixtures go the one way that all calls go: through routing, schema, record and counters.

use serde_json::json;

use crate::message::{call, request, text};
use crate::process::{Place, Server, Stdio, run, until};

#[test]
fn every_call_is_counted_by_target_and_outcome() {
    let server = Server::start();
    let post = |body: String| server.post(body).send().json();
    post(call(1, "test_simple_text", json!({})));
    post(call(2, "workspace_list", json!({})));
    assert_eq!(server.calls("tool", "complete"), 2, "a fixture and a pack count alike");
    post(call(3, "no_such_tool", json!({})));
    assert_eq!(server.calls("tool", "notFound"), 1);
    post(call(4, "test_echo", json!({"message": 5})));
    post(call(5, "workspace_read", json!({"path": 5})));
    assert_eq!(server.calls("tool", "invalidInput"), 2);
    post(request(6, "resources/read", &json!({"uri": "test://static-text"})));
    assert_eq!(server.calls("resource", "complete"), 1);
    post(request(7, "prompts/get", &json!({"name": "test_simple_prompt"})));
    assert_eq!(server.calls("prompt", "complete"), 1);
    assert_eq!(server.metric("toolgate_calls_running"), 0);
    assert_eq!(server.metric("toolgate_call_duration_seconds_count{target=\"tool\"}"), 5);
}

#[test]
fn arguments_that_miss_the_schema_are_a_result_that_the_model_can_read() {
    #[track_caller]
    fn check(stdio: &mut Stdio, tool: &str, arguments: serde_json::Value, names: &str) {
        let answer = stdio.ask(call(1, tool, arguments));
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        assert!(result.get("structuredContent").is_none(), "{answer}");
        assert_eq!(result["_meta"]["dev.toolgate/error"]["category"], "invalidInput");
        let text = text(&answer);
        assert!(text.starts_with("Error: ") && text.contains("Details: "), "{text}");
        assert!(text.contains("Suggestions:\n  1. ") && text.contains(names), "{text}");
    }
    let mut stdio = Stdio::start();
    check(&mut stdio, "test_echo", json!({}), "message");
    check(&mut stdio, "test_echo", json!({"message": 5}), "message");
    check(&mut stdio, "test_echo", json!({"message": "x", "more": 1}), "more");
    check(&mut stdio, "test_slow", json!({"seconds": -1}), "seconds");
    check(&mut stdio, "test_slow", json!({"seconds": 1e300}), "seconds");
    check(&mut stdio, "workspace_read", json!({"path": []}), "path");
}

#[test]
fn a_tool_that_breaks_down_is_our_fault_and_the_server_lives() {
    let server = Server::start();
    let answer = server.post(call(1, "test_panic", json!({}))).send();
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32603)));
    assert!(!answer.text().contains("on purpose"), "what went wrong is for the log: {}", answer.text());
    assert_eq!(text(&server.post(call(2, "test_echo", json!({"message": "alive"}))).send().json()), "alive");
    assert_eq!(server.calls("tool", "internal"), 1);
    // What it says on standard error is read by another thread.
    until("the log tells why", || server.log().contains("this tool panics on purpose"));
}

#[test]
fn fixtures_are_there_only_when_asked_for() {
    let place = Place::new();
    let lines = format!("{}\n{}", request(1, "tools/list", &json!({})), call(2, "test_echo", json!({})));
    let ended = run(place.toolgate(&["serve"]), lines.as_bytes());
    assert!(!ended.stdout.contains("test_simple_text") && ended.stdout.contains("workspace_read"));
    assert!(ended.stdout.contains(r#""id":2,"error":{"code":-32602"#), "{}", ended.stdout);
}

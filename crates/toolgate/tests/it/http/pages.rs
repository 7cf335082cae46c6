//! What the server says of itself beside the protocol.

use serde_json::json;

use super::sessions::Client;
use crate::message::call;
use crate::process::{Place, Server};

#[test]
fn health_says_whether_it_can_do_its_work() {
    let server = Server::start();
    let reply = server.get("/health").send();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let health =
        json!({"status": "ready", "why": [], "sources": ["fixtures", "workspace", "memory"], "sessions": 0});
    assert_eq!(reply.json(), health);
    let _client = Client::begin(&server);
    assert_eq!(server.get("/health").send().json()["sessions"], 1);
}

#[test]
fn api_says_what_it_is_and_offers() {
    let server = Server::start_in(Place::new(), &[]);
    let api = server.get("/api").send().json();
    assert_eq!((&api["name"], &api["version"]), (&json!("toolgate"), &json!(env!("CARGO_PKG_VERSION"))));
    let versions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(api["protocolVersions"], versions);
    assert_eq!(api["endpoints"]["mcp"], "/mcp");
    let tools: Vec<String> = api["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| format!("{}: {}", tool["source"].as_str().unwrap(), tool["name"].as_str().unwrap()))
        .collect();
    let expected = [
        "workspace: workspace_list",
        "workspace: workspace_read",
        "workspace: workspace_write",
        "memory: memory_read",
        "memory: memory_write",
    ];
    assert_eq!(tools, expected);
}

#[test]
fn metrics_are_in_the_format_of_prometheus() {
    let server = Server::start();
    server.post(call(1, "test_simple_text", json!({}))).send();
    let reply = server.get("/metrics").send();
    let kind = reply.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    let text = reply.text();
    assert!(text.ends_with("# EOF\n"));
    for line in [
        "# TYPE toolgate_calls counter",
        "toolgate_calls_total{target=\"tool\",outcome=\"complete\"} 1",
        "toolgate_calls_running 0",
        "toolgate_call_duration_seconds_count 1",
        "toolgate_calls_parked 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

//! What the server says of itself beside the protocol.

use serde_json::json;

use super::sessions::Client;
use crate::message::call;
use crate::process::{Place, Server, peer, peer_script, peers, run};
use crate::web::Ask;

#[test]
fn health_says_whether_it_can_do_its_work() {
    let server = Server::start();
    let reply = server.get("/health").send();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let sources = ["fixtures", "workspace", "memory", "web", "opencode", "script", "browser"];
    let health = json!({"status": "ready", "why": [], "sources": sources, "upstreams": {}, "sessions": 0});
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
    let (theirs, tools): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| tool.starts_with("opencode: "));
    assert_eq!(theirs.len(), 29);
    let (browsing, tools): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| tool.starts_with("browser: "));
    assert_eq!(browsing.len(), 34);
    let expected = [
        "workspace: workspace_list",
        "workspace: workspace_read",
        "workspace: workspace_write",
        "memory: memory_read",
        "memory: memory_write",
        "web: web_fetch",
        "script: script_exec",
        "script: script_list",
        "script: script_reload",
        "script: script_run",
    ];
    assert_eq!(tools, expected);
}

#[test]
fn metrics_are_in_the_format_of_prometheus() {
    let server = Server::start();
    server.post(call(1, "test_simple_text", json!({}))).send();
    let reply = server.get("/metrics").header("Accept", "application/openmetrics-text;version=1.0.0").send();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(reply.header("content-type"), Some(kind));
    let text = reply.text();
    assert!(text.ends_with("# EOF\n"));
    for line in [
        "# TYPE toolgate_calls counter",
        "toolgate_calls_total{target=\"tool\",outcome=\"complete\"} 1",
        "toolgate_calls_running 0",
        "toolgate_call_duration_seconds_count{target=\"tool\"} 1",
        concat!("toolgate_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "toolgate_source_up{source=\"fixtures\"} 1",
        "toolgate_calls_parked 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn metrics_are_plain_text_for_who_does_not_ask_otherwise() {
    let server = Server::start();
    for ask in [server.get("/metrics"), server.get("/metrics").header("Accept", "text/html,*/*;q=0.8")] {
        let reply = ask.send();
        assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        let text = reply.text();
        assert!(text.contains("# TYPE toolgate_calls_total counter\n") && !text.contains("# EOF"), "{text}");
    }
    let head = Ask::new(server.address, "HEAD", "/metrics").open().head;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!((head.status, head.header("content-type")), (200, Some(kind)));
}

#[test]
fn the_parsers_of_prometheus_take_both_formats() {
    let (server, place) = (Server::start(), Place::new());
    server.post(call(1, "test_simple_text", json!({}))).send();
    let mut command = peer(&place, peers().join(".venv/bin/python"));
    command.arg(peer_script("prometheus.py")).arg(server.url("/metrics"));
    let ended = run(command, b"");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, 0, "{said}");
    let series = ended.stdout.lines().last().and_then(|line| line.split_once(" families, "));
    assert!(series.is_some_and(|(families, _)| families.parse::<u32>().unwrap() >= 20), "{said}");
}

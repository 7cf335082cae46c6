//! The TypeScript SDK v1 and v2 and the Python SDK as clients: handshake, lists, calls, progress, cancellation,
//! resources, prompts and questions, over every transport and in every era they offer.

use std::process::Command;

use crate::process::{Place, Server, TOOLGATE, peer, peer_script, peers, run};

/// A script of `tests/peers`, ready for its arguments.
fn client(place: &Place, script: &str) -> Command {
    let program = if script.ends_with(".py") { peers().join(".venv/bin/python") } else { "node".into() };
    let mut command = peer(place, program);
    command.arg(peer_script(script));
    command
}

#[track_caller]
fn check(script: &str, era: Option<&str>, transport: &str, at_least: usize) {
    let (server, place) = (Server::start(), Place::new());
    let mut command = client(&place, script);
    command.args(era.into_iter().flat_map(|era| ["--era", era])).arg(transport);
    match transport {
        "http" => command.arg(server.url("/mcp")),
        "sse" => command.arg(server.url("/sse")),
        _ => command.args([TOOLGATE, "serve", "--fixtures"]),
    };
    let ended = run(command, b"");
    let said = format!("{}{}{}", ended.stdout, ended.stderr, server.log());
    let last = ended.stdout.lines().last().unwrap_or_default();
    let passed = last.strip_suffix(" passed, 0 failed").and_then(|count| count.parse::<usize>().ok());
    assert_eq!(ended.code, 0, "{said}");
    assert!(passed.is_some_and(|passed| passed >= at_least), "{said}");
}

#[test]
fn typescript_v1_over_http() {
    check("ts_v1.mjs", None, "http", 21);
}

#[test]
fn typescript_v1_over_stdio() {
    check("ts_v1.mjs", None, "stdio", 21);
}

#[test]
fn typescript_v1_over_sse() {
    check("ts_v1.mjs", None, "sse", 21);
}

#[test]
fn typescript_v2_over_http() {
    check("ts_v2.mjs", Some("legacy"), "http", 18);
    check("ts_v2.mjs", Some("auto"), "http", 19);
    check("ts_v2.mjs", Some("modern"), "http", 19);
}

#[test]
fn typescript_v2_over_stdio() {
    check("ts_v2.mjs", Some("legacy"), "stdio", 18);
    check("ts_v2.mjs", Some("auto"), "stdio", 18);
    check("ts_v2.mjs", Some("modern"), "stdio", 18);
}

#[test]
fn typescript_v2_over_sse() {
    check("ts_v2.mjs", None, "sse", 18);
}

#[test]
fn python_over_http() {
    check("python_client.py", Some("legacy"), "http", 18);
    check("python_client.py", Some("auto"), "http", 19);
    check("python_client.py", Some("modern"), "http", 19);
}

#[test]
fn python_over_stdio() {
    check("python_client.py", Some("legacy"), "stdio", 18);
    check("python_client.py", Some("auto"), "stdio", 18);
    check("python_client.py", Some("modern"), "stdio", 18);
}

#[test]
fn python_over_sse() {
    check("python_client.py", None, "sse", 18);
}

//! The Inspector's command line as a client, in every era and over every transport.

use serde_json::{Value, json};

use crate::process::{Ended, Place, Server, TOOLGATE, peer, peers, run};

/// How the Inspector reaches the server.
#[derive(Clone, Copy)]
enum By<'a> {
    Http(&'a Server, &'a str),
    Sse(&'a Server),
    Stdio(&'a str),
}

/// Runs the Inspector with one method and its options.
fn inspect(by: By<'_>, options: &[&str]) -> Ended {
    let place = Place::new();
    let mut command = peer(&place, "node");
    let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    command.arg(peers().join(launcher)).arg("--cli");
    match by {
        By::Http(server, era) => {
            command.args([&server.url("/mcp"), "--transport", "http", "--protocol-era", era])
        }
        By::Sse(server) => command.args([&server.url("/sse"), "--transport", "sse"]),
        By::Stdio(era) => command.args(["--protocol-era", era]),
    };
    command.args(["--format", "json", "--method"]).args(options);
    if let By::Stdio(_) = by {
        // Behind `--`, or the Inspector takes some options for its own.
        command.args(["--", TOOLGATE, "serve", "--fixtures"]);
    }
    run(command, b"")
}

/// The result of one method.
#[track_caller]
fn result(by: By<'_>, options: &[&str]) -> Value {
    let ended = inspect(by, options);
    assert_eq!(ended.code, 0, "{options:?}: {ended:?}");
    let mut output: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    output["result"].take()
}

#[track_caller]
fn check(by: By<'_>, version: &str) {
    let initialized = result(by, &["initialize"]);
    assert_eq!(initialized["protocolVersion"], version, "{initialized}");

    let listed = result(by, &["tools/list"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"test_simple_text") && names.contains(&"workspace_read"), "{names:?}");

    let called = result(by, &["tools/call", "--tool-name", "test_echo", "--tool-arg", "message=Grüße, 世界"]);
    assert_eq!(called["content"], json!([{"type": "text", "text": "Grüße, 世界"}]));

    let read = result(by, &["resources/read", "--uri", "test://static-text"]);
    assert_eq!(read["contents"][0]["text"], "This is the content of the static text resource.");

    let prompt =
        ["prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=a", "arg2=b"];
    let got = result(by, &prompt);
    assert_eq!(got["messages"][0]["content"]["text"], "Prompt with arguments: arg1='a', arg2='b'");

    // Exit code 5: the tool answered with `isError`.
    let failed = inspect(by, &["tools/call", "--tool-name", "test_error_handling"]);
    assert_eq!(failed.code, 5, "{failed:?}");
    assert!(failed.stderr.contains("tool_is_error"), "{failed:?}");
}

#[test]
fn legacy_over_http() {
    check(By::Http(&Server::start(), "legacy"), "2025-11-25");
}

#[test]
fn auto_over_http() {
    check(By::Http(&Server::start(), "auto"), "2026-07-28");
}

#[test]
fn modern_over_http() {
    check(By::Http(&Server::start(), "modern"), "2026-07-28");
}

#[test]
fn legacy_over_stdio() {
    check(By::Stdio("legacy"), "2025-11-25");
}

#[test]
fn auto_over_stdio() {
    check(By::Stdio("auto"), "2026-07-28");
}

#[test]
fn modern_over_stdio() {
    check(By::Stdio("modern"), "2026-07-28");
}

#[test]
fn legacy_over_sse() {
    check(By::Sse(&Server::start()), "2025-11-25");
}

/// Exit code 6 would say that some client's idea of a schema does not cover one of ours. The suite's own
/// `json_schema_2020_12_tool` is such a one by design, so this looks at the tools that people get.
#[test]
fn schemas_of_all_tools_are_portable() {
    let server = Server::start_in(Place::new(), &[]);
    let ended = inspect(By::Http(&server, "modern"), &["tools/list", "--strict"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

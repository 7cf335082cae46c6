//! Lossless and exact: ids and arguments come back as they were written, and what could mean two things is refused.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::message::{call, modern, modern_call, notification, post_modern, request, text};
use crate::process::{Server, Stdio};

/// Ids as JSON text.
fn ids() -> Vec<String> {
    let mut ids: Vec<String> = [
        "9007199254740993",
        r#""x""#,
        "-1",
        "0",
        "-0",
        "1.0",
        "1e3",
        "1E+2",
        "123456789012345678901234567890",
        r#""""#,
        r#""\u00e9\ud83d\ude00""#,
        r#""é😀""#,
        r#""a\/b\n\"\\""#,
        r#""1""#,
    ]
    .map(String::from)
    .to_vec();
    ids.push(format!("\"{}\"", "k".repeat(10_000)));
    ids
}

/// The `id` of an answer, exactly as it is written there, and whether it is a result.
#[track_caller]
fn told(answer: &str) -> (String, bool) {
    #[derive(serde::Deserialize)]
    struct Envelope {
        id: Box<RawValue>,
        result: Option<Box<RawValue>>,
    }
    let envelope: Envelope = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (envelope.id.get().to_owned(), envelope.result.is_some())
}

/// Requests with one id in both eras, and whether each has a result.
fn requests(id: &str) -> Vec<(String, bool)> {
    vec![
        (call(id, "test_echo", json!({"message": "x"})), true),
        (request(id, "ping", &json!({})), true),
        (request(id, "tools/list", &json!({})), true),
        (call(id, "no_such_tool", json!({})), false),
        (request(id, "no/such/method", &json!({})), false),
        (request(id, "ping", &json!([])), false),
        (modern_call(id, "test_echo", json!({"message": "x"})), true),
        (request(id, "server/discover", &modern(json!({}))), true),
        (modern_call(id, "no_such_tool", json!({})), false),
        (request(id, "no/such/method", &modern(json!({}))), false),
    ]
}

#[test]
fn ids_come_back_as_written_over_stdio() {
    let mut stdio = Stdio::start();
    for id in ids() {
        for (request, is_result) in requests(&id) {
            stdio.send(&request);
            assert_eq!(told(&stdio.line()), (id.clone(), is_result), "{request}");
        }
    }
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn ids_come_back_as_written_over_http() {
    let server = Server::start();
    for id in ids() {
        for (request, is_result) in requests(&id) {
            let message: Value = serde_json::from_str(&request).unwrap();
            let mut post = server.post(request.clone());
            if message["params"]["_meta"].is_object() {
                post = post.header("MCP-Protocol-Version", "2026-07-28");
                post = post.header("Mcp-Method", message["method"].as_str().unwrap());
                let name = message["params"]["name"].as_str();
                post = name.into_iter().fold(post, |post, name| post.header("Mcp-Name", name));
            }
            for accept in ["application/json", "text/event-stream", "application/json, text/event-stream"] {
                let reply = post.clone().header("Accept", accept).send();
                let answer = reply.text();
                let answer = answer.trim().strip_prefix("data: ").unwrap_or(answer.trim());
                assert_eq!(told(answer), (id.clone(), is_result), "{request} as {accept}");
            }
        }
    }
}

#[test]
fn a_string_comes_back_as_it_was_meant_however_it_was_spelled() {
    #[track_caller]
    fn check(stdio: &mut Stdio, spelled: &str, meant: &str) {
        let params = format!(r#"{{"name":"test_echo","arguments":{{"message":{spelled}}}}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        assert_eq!(text(&stdio.ask(line)), meant);
    }
    let mut stdio = Stdio::start();
    check(&mut stdio, r#""9007199254740993""#, "9007199254740993");
    check(&mut stdio, r#""\u00e9\ud83d\ude00""#, "é😀");
    check(&mut stdio, r#""é😀""#, "é😀");
    check(&mut stdio, r#""\u0000\u001f\u2028""#, "\u{0}\u{1f}\u{2028}");
    check(&mut stdio, r#""a\/\"\\\b\f\n\r\t""#, "a/\"\\\u{8}\u{c}\n\r\t");
    let long = "ü".repeat(200_000);
    check(&mut stdio, &format!("\"{long}\""), &long);
}

#[test]
fn a_progress_token_comes_back_as_written() {
    let mut stdio = Stdio::start();
    for token in ["9007199254740993", "1.0", "0", r#""\u00e9""#, r#""""#] {
        for about in [
            "",
            r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#,
        ] {
            let meta = format!(r#"{{"progressToken":{token}{about}}}"#);
            let params = format!(r#"{{"name":"test_tool_with_progress","_meta":{meta}}}"#);
            stdio.send(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
            for _ in 0..3 {
                let line = stdio.line();
                assert!(line.contains(&format!("\"progressToken\":{token},")), "{line}");
            }
            assert_eq!(told(&stdio.line()), ("1".into(), true));
        }
    }
}

#[test]
fn depth_over_128_and_keys_that_occur_twice_are_refused() {
    #[track_caller]
    fn check(stdio: &mut Stdio, server: &Server, params: &str, code: Option<i64>) {
        let line = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"ping","params":{params}}}"#);
        let over_stdio = stdio.ask(&line);
        let reply = server.post(line).send();
        assert_eq!(reply.status, if code.is_some() { 400 } else { 200 });
        for answer in [over_stdio, reply.json()] {
            assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
            assert_eq!(answer["id"], "x");
        }
    }
    let (mut stdio, server) = (Stdio::start(), Server::start());
    // The message and its params are two levels.
    let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!(r#"{}1{}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth));
    check(&mut stdio, &server, &nested(126), None);
    check(&mut stdio, &server, &nested(127), Some(-32600));
    check(&mut stdio, &server, &objects(127), None);
    check(&mut stdio, &server, &objects(128), Some(-32600));
    check(&mut stdio, &server, r#"{"a":1,"b":2}"#, None);
    check(&mut stdio, &server, r#"{"a":1,"a":1}"#, Some(-32600));
    check(&mut stdio, &server, r#"{"a":1,"\u0061":2}"#, Some(-32600));
    check(&mut stdio, &server, r#"{"a":[{"k":1},{"k":1,"\u006b":2}]}"#, Some(-32600));
    check(&mut stdio, &server, r#"{"a":{"k":1},"b":{"k":1}}"#, None);
    check(&mut stdio, &server, r#"{"é":1,"\u00e9":2}"#, Some(-32600));
    check(&mut stdio, &server, r#"{"😀":1,"\ud83d\ude00":2}"#, Some(-32600));
}

#[test]
fn a_notification_is_never_answered() {
    let server = Server::start();
    let (mut stdio, nothing) = (Stdio::start(), json!({}));
    for line in [
        notification("notifications/initialized", &nothing),
        notification("notifications/no_such", &nothing),
        notification("notifications/no_such", &json!([1])),
        notification("no/such/method", &nothing),
        notification("ping", &nothing),
        notification("tools/call", &json!({"name": "test_panic"})),
        notification("notifications/cancelled", &json!({"requestId": 5})),
        notification("notifications/progress", &json!({"progressToken": 5, "progress": 1})),
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#.into(),
    ] {
        stdio.send(&line);
        let plain = server.post(line.clone());
        let modern = plain.clone().both().header("MCP-Protocol-Version", "2026-07-28");
        for post in [plain.clone(), plain.both(), modern] {
            let reply = post.send();
            assert_eq!((reply.status, reply.body.as_slice()), (202, b"".as_slice()), "{line}");
        }
    }
    assert_eq!(stdio.finish(), (vec![], Some(0)));
    // What was no request ran nothing.
    assert_eq!(server.metric("toolgate_call_duration_seconds_count"), 0);
}

#[test]
fn big_numbers_reach_a_modern_tool_through_its_headers_and_body() {
    // The header says what the body says, byte for byte where it is a number.
    let server = Server::start();
    let echo = json!({"name": "test_echo", "arguments": {"message": "9007199254740993"}});
    assert_eq!(text(&post_modern(&server, "tools/call", 1, echo).send().json()), "9007199254740993");
}

//! In which form a POST is answered, and with which status.

use serde_json::{Value, json};

use crate::message::{call, initialize, post_modern, request, slow, text};
use crate::process::Server;
use crate::web::Ask;

#[test]
fn a_bare_post_is_answered_without_any_header() {
    let server = Server::start();
    let reply = server.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).send();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert!(!reply.json()["result"]["tools"].as_array().unwrap().is_empty());
    // As `curl -d` sends it.
    let form = server.post(call(2, "test_echo", json!({"message": "hi"})));
    let reply =
        form.header("Content-Type", "application/x-www-form-urlencoded").header("Accept", "*/*").send();
    assert_eq!((reply.status, text(&reply.json())), (200, "hi"));
    assert_eq!(reply.header("mcp-session-id"), None);
}

#[test]
fn an_answer_has_the_form_that_the_client_accepts() {
    #[track_caller]
    fn check(server: &Server, accept: &str, body: String, status: u16, kind: &str) {
        let reply = server.post(body).header("Accept", accept).send();
        let found = reply.header("content-type").unwrap_or_default();
        assert_eq!((reply.status, found), (status, kind), "{accept}: {}", reply.text());
    }
    const JSON: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    const TEXT: &str = "text/plain; charset=utf-8";
    let server = Server::start();
    let quick = || call(1, "test_simple_text", json!({}));
    check(&server, "application/json", quick(), 200, JSON);
    check(&server, "text/event-stream", quick(), 200, EVENTS);
    check(&server, "application/json, text/event-stream", quick(), 200, JSON);
    check(&server, "text/event-stream;q=0.5, application/json;q=0.4", quick(), 200, JSON);
    check(&server, "*/*", quick(), 200, JSON);
    check(&server, "APPLICATION/JSON", quick(), 200, JSON);
    check(&server, "text/event-stream", request(1, "tools/list", &json!({})), 200, EVENTS);
    check(&server, "text/event-stream", call(1, "no_such_tool", json!({})), 200, EVENTS);
    // What takes long becomes a stream, where the client takes one.
    let long = || call(1, "test_slow", json!({"seconds": 1}));
    check(&server, "application/json", long(), 200, JSON);
    check(&server, "text/html", quick(), 406, TEXT);
    check(&server, "image/png, text/html", quick(), 406, TEXT);
}

#[test]
fn a_stream_ends_with_the_answer_and_each_event_is_one_line() {
    let server = Server::start();
    let post = post_modern(
        &server,
        "tools/call",
        7,
        json!({"name": "test_tool_with_progress", "_meta": {"progressToken": 1}}),
    );
    let reply = post.send();
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("cache-control"), Some("no-cache"));
    for event in reply.text().trim_end().split("\n\n") {
        assert_eq!(event.matches("data: ").count(), 1, "{event}");
    }
    let messages: Vec<Value> = post.open().messages();
    let progress: Vec<&Value> = messages.iter().map(|message| &message["params"]["progress"]).collect();
    assert_eq!(progress[..3], [&json!(0), &json!(50), &json!(100)]);
    assert_eq!((messages.len(), &messages[3]["id"]), (4, &json!(7)));
}

#[test]
fn what_is_wrong_has_its_status() {
    #[track_caller]
    fn check(ask: &Ask, status: u16, code: Option<i64>) {
        let reply = ask.send();
        assert_eq!(reply.status, status, "{}", reply.text());
        if let Some(code) = code {
            assert_eq!(reply.json()["error"]["code"], code);
        }
    }
    let server = Server::start();
    let ask = |method, path| Ask::new(server.address, method, path);
    // Not JSON, and not JSON-RPC.
    for body in ["", "hello", "{", "\u{feff}{}", "{\"a\":\"\u{0}\"}"] {
        check(&server.post(body), 400, Some(-32700));
    }
    check(&server.post(b"{\"a\":\"\xff\"}".as_slice()), 400, Some(-32700));
    for body in ["1", "null", "{}", "[]", "\"x\"", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#] {
        check(&server.post(body), 400, Some(-32600));
    }
    // A mistake in a request that is one: legacy clients lose what does not come with 200.
    check(&server.post(request(1, "no/such/method", &json!({}))), 200, Some(-32601));
    check(&server.post(call(1, "no_such_tool", json!({}))), 200, Some(-32602));
    check(&server.post(request(1, "tools/call", &json!({}))), 200, Some(-32602));
    check(&server.post(request(1, "resources/read", &json!({"uri": "test://none"}))), 200, Some(-32002));
    check(&post_modern(&server, "no/such/method", 1, json!({})), 404, Some(-32601));
    check(&post_modern(&server, "tools/call", 1, json!({"name": "no_such_tool"})), 200, Some(-32602));
    check(&post_modern(&server, "resources/read", 1, json!({"uri": "test://none"})), 200, Some(-32602));
    let unknown = server.post(request(1, "ping", &json!({}))).header("MCP-Protocol-Version", "2031-01-01");
    check(&unknown, 400, Some(-32600));
    // Wrong methods and wrong places.
    for (method, path) in [("PUT", "/mcp"), ("PATCH", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")] {
        check(&ask(method, path), 405, None);
    }
    for (method, path) in [("POST", "/sse"), ("GET", "/messages"), ("POST", "/api"), ("DELETE", "/metrics")] {
        check(&ask(method, path), 405, None);
    }
    for path in ["/", "/nothing", "/mcpx", "/mcp/a/b", "/p/none/mcp"] {
        check(&server.post(request(1, "ping", &json!({}))).path(path), 404, None);
    }
    assert_eq!(ask("PUT", "/mcp").send().header("allow"), Some("GET, POST, DELETE"));
}

#[test]
fn modern_headers_have_to_say_what_the_body_says() {
    #[track_caller]
    fn check(ask: Ask, status: u16, code: i64) {
        let reply = ask.send();
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (status, &json!(code)),
            "{}",
            reply.text()
        );
    }
    let server = Server::start();
    let echo = || json!({"name": "test_echo", "arguments": {"message": "x"}});
    let bare = || server.post(request(1, "tools/call", &crate::message::modern(echo()))).both();
    let version = || bare().header("MCP-Protocol-Version", "2026-07-28");
    check(bare(), 400, -32020);
    check(bare().header("MCP-Protocol-Version", "2025-11-25"), 400, -32020);
    check(version(), 400, -32020);
    check(version().header("Mcp-Method", "tools/list").header("Mcp-Name", "test_echo"), 400, -32020);
    check(version().header("Mcp-Method", "tools/call"), 400, -32020);
    check(version().header("Mcp-Method", "tools/call").header("Mcp-Name", "test_slow"), 400, -32020);
    let twice = version().header("Mcp-Method", "tools/call").header("Mcp-Name", "test_echo");
    check(twice.clone().header("Mcp-Name", "test_slow"), 400, -32020);
    assert_eq!(twice.send().status, 200);
    check(
        server.post(request(1, "tools/call", &echo())).both().header("MCP-Protocol-Version", "2026-07-28"),
        400,
        -32602,
    );
}

#[test]
fn batches_belong_to_2025_03_26() {
    let server = Server::start();
    let ping = |id: u64| request(id, "ping", &json!({}));
    let told = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let batch = format!(
        "[{},{},{told},5,{}]",
        ping(1),
        call(2, "test_echo", json!({"message": "b"})),
        initialize("2025-03-26")
    );
    for post in
        [server.post(batch.clone()), server.post(batch.clone()).header("MCP-Protocol-Version", "2025-03-26")]
    {
        let reply = post.send();
        let answers = reply.json();
        let mut shown: Vec<String> = answers
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| format!("{} {}", answer["id"], answer["error"]["code"]))
            .collect();
        shown.sort();
        assert_eq!(
            (reply.status, shown),
            (200, vec!["0 -32600".into(), "1 null".into(), "2 null".into(), "null -32600".into()])
        );
    }
    let silent = server.post(format!("[{told},{told}]")).send();
    assert_eq!((silent.status, silent.body.len()), (202, 0));
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let reply = server.post(batch.clone()).header("MCP-Protocol-Version", version).send();
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)), "{version}");
    }
    let many = vec![ping(1); 101].join(",");
    assert_eq!(server.post(format!("[{many}]")).send().status, 400);
    let enough = vec![ping(1); 100].join(",");
    assert_eq!(server.post(format!("[{enough}]")).send().json().as_array().unwrap().len(), 100);
}

#[test]
fn without_a_session_a_legacy_stream_carries_no_questions() {
    let server = Server::start();
    let reply = server.post(call(1, "test_elicitation", json!({"message": "who?"}))).both().send();
    assert_eq!((reply.status, &reply.json()["result"]["isError"]), (200, &json!(true)));
    // Nor does what comes before the answer get lost: it was never promised.
    let answer = server.post(slow(2, 0.5)).both().open().messages();
    assert_eq!(answer.last().map(text), Some("Slept for 0.5 s"), "{answer:?}");
}

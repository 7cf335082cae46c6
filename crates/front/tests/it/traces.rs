//! The trace context of a request reaches the source, by `_meta` or by headers, in either era.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Outcome, TraceContext};
use toolgate_front::http::{HttpConfig, Server};
use toolgate_testkit::{FakeSource, hub, text};

use crate::scene::{Nobody, PATIENCE, runtime};

const OURS: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const THEIRS: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// What a call saw: parent, state, baggage.
type Seen = Option<(String, Option<String>, Option<String>)>;

fn seen(context: Option<&TraceContext>) -> Seen {
    let context = context?;
    let text = |text: Option<&str>| text.map(Into::into);
    Some((context.parent().into(), text(context.state()), text(context.baggage())))
}

/// Sends a call with this `_meta` and these headers, in one era, and tells what its source saw.
fn check(modern: bool, mut meta: Value, headers: &str) -> Seen {
    let found: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let notes = found.clone();
    let source = FakeSource::new("a").tool("note", move |permitted, _| {
        notes.lock().unwrap().push(seen(permitted.trace_context()));
        async { Ok(Outcome::Complete(text("done"))) }
    });
    let mut head = format!("Content-Type: application/json\r\nConnection: close\r\n{headers}");
    if modern {
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        head += "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: note\r\n";
    }
    let params = json!({"name": "note", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    runtime().block_on(async {
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        let hub = hub([Arc::new(source)]);
        let server = Server::bind(hub.clone(), config, Arc::new(Nobody)).await.unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        hub.tasks().spawn(server.serve(stop.clone()));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut reply)).await.unwrap().unwrap();
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        stop.cancel();
    });
    let found = found.lock().unwrap();
    assert_eq!(found.len(), 1, "the tool is called once");
    found[0].clone()
}

fn whole(parent: &str, state: Option<&str>, baggage: Option<&str>) -> Seen {
    Some((parent.into(), state.map(Into::into), baggage.map(Into::into)))
}

#[test]
fn the_context_of_a_message_comes_before_that_of_its_headers() {
    let in_headers = format!("traceparent: {THEIRS}\r\ntracestate: x=1\r\nbaggage: u=2\r\n");
    for modern in [false, true] {
        let meta = json!({"traceparent": OURS, "tracestate": "y=3", "baggage": "v=4"});
        assert_eq!(check(modern, meta, &in_headers), whole(OURS, Some("y=3"), Some("v=4")));
        assert_eq!(check(modern, json!({"traceparent": OURS}), &in_headers), whole(OURS, None, None));
        assert_eq!(check(modern, json!({}), &in_headers), whole(THEIRS, Some("x=1"), Some("u=2")));
        assert_eq!(check(modern, json!({}), ""), None);
    }
}

#[test]
fn what_is_malformed_or_says_two_things_is_ignored() {
    for modern in [false, true] {
        for bad in [json!({"traceparent": "00-1"}), json!({"traceparent": 7}), json!({"tracestate": "x=1"})] {
            assert_eq!(check(modern, bad, ""), None);
        }
        let twice = format!("traceparent: {OURS}\r\ntraceparent: {THEIRS}\r\n");
        assert_eq!(check(modern, json!({}), &twice), None);
        assert_eq!(check(modern, json!({}), "traceparent: 00-zz\r\n"), None);
    }
}

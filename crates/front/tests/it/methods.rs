//! Methods that only another server knows, over HTTP in either era.

use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::Outcome;
use toolgate_front::http::{HttpConfig, Server};
use toolgate_testkit::{FakeSource, hub, text};

use crate::scene::{Nobody, PATIENCE, runtime};
use crate::talk::Talk;

/// How a request for a method is answered: the status, and a part of the body.
#[track_caller]
fn check(foreign: bool, method: &str, headers: Option<&str>, (status, part): (u16, &str)) {
    let source = FakeSource::new("a")
        .otherwise(|permitted, _| async move { Ok(Outcome::Complete(text(permitted.target().name()))) });
    let source = if foreign { source.foreign(&["com.example/odd"]) } else { source };
    let mut params = json!({"x": 1});
    let mut head = String::new();
    if let Some(headers) = headers {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        head = format!("MCP-Protocol-Version: 2026-07-28\r\n{headers}");
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\
         {head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let reply = runtime().block_on(async {
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        let hub = hub([Arc::new(source)]);
        let server = Server::bind(hub.clone(), config, Arc::new(Nobody)).await.unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        hub.tasks().spawn(server.serve(stop.clone()));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut reply)).await.unwrap().unwrap();
        stop.cancel();
        reply
    });
    assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {headers:?}: {reply}");
    assert!(reply.contains(part), "{method} {headers:?}: {reply}");
}

#[test]
fn they_pass_where_a_server_declares_them_and_are_unknown_elsewhere() {
    let named = Some("Mcp-Method: odd/list\r\n");
    let answered = (200, r#""text":"odd/list""#);
    check(true, "odd/list", None, answered);
    check(true, "odd/list", named, answered);
    for foreign in [true, false] {
        check(foreign, "even/list", None, (200, "-32601"));
        check(foreign, "even/list", Some("Mcp-Method: even/list\r\n"), (404, "-32601"));
        // A method that does not exist needs no headers; one that does, needs them.
        check(foreign, "even/list", Some(""), (404, "-32601"));
        check(foreign, "tasks/anything", None, (200, "-32601"));
        check(foreign, "tools/anything", None, (200, "-32601"));
    }
    check(true, "odd/list", Some(""), (400, "-32020"));
    check(false, "odd/list", None, (200, "-32601"));
    check(false, "odd/list", named, (404, "-32601"));
}

#[test]
fn what_servers_add_to_the_protocol_is_declared_in_either_era() {
    runtime().block_on(async {
        let source = FakeSource::new("a").echo("x").foreign(&["com.example/odd", "no name"]);
        let hub = hub([Arc::new(source)]);
        let mut legacy = Talk::begin(hub.clone()).await;
        assert_eq!(legacy.greet("2025-11-25").await["extensions"], json!({"com.example/odd": {}}));
        legacy.end().await;
        let mut modern = Talk::begin(hub).await;
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let found = modern.ask("server/discover", json!({"_meta": about})).await;
        let both = json!({"io.modelcontextprotocol/tasks": {}, "com.example/odd": {}});
        assert_eq!(found["capabilities"]["extensions"], both);
        modern.end().await;
    });
}

//! HTTP: made-up methods, paths, headers and bodies get an answer that is one, and never one that blames us.

use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_front::http::{HttpConfig, Server};

use crate::scene::{Nobody, PATIENCE, echoing, runtime};

fn word(known: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![4 => proptest::sample::select(known).prop_map(String::from), 1 => "[!-9;-~]{1,16}"]
}

fn header() -> impl Strategy<Value = String> {
    let name = word(&[
        "Accept",
        "Content-Type",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Param-Region",
        "Last-Event-ID",
        "Origin",
        "Authorization",
    ]);
    let value = prop_oneof![
        word(&[
            "*/*",
            "text/event-stream",
            "application/json",
            "2026-07-28",
            "2025-11-25",
            "tools/call",
            "echo",
            "1-0",
            "=?base64?ZWNobw==?="
        ]),
        "[ -~]{0,30}",
        "\\PC{0,10}",
    ];
    (name, value).prop_map(|(name, value)| format!("{name}: {value}\r\n"))
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let modern = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","_meta":{meta}}}}}"#
    );
    prop_oneof![
        Just(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec()),
        Just(
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
                .to_vec()
        ),
        Just(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_vec()),
        Just(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec()),
        Just(modern.into_bytes()),
        vec(any::<u8>(), 0..60),
    ]
}

/// The status that comes back, or nothing where the connection was closed without a word.
async fn status(address: std::net::SocketAddr, request: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut head = [0; 64];
    let read = timeout(PATIENCE, stream.read(&mut head)).await.expect("an answer").unwrap_or_default();
    let head = String::from_utf8_lossy(&head[..read]).into_owned();
    if head.is_empty() {
        return None;
    }
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    Some(status.unwrap_or_else(|| panic!("no HTTP: {head}")))
}

#[test]
fn made_up_requests_are_answered_and_never_blame_us() {
    let runtime = runtime();
    let server = runtime.block_on(async {
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        Server::bind(echoing(), config, Arc::new(Nobody)).await.unwrap()
    });
    let (address, stop) = (server.address(), CancellationToken::new());
    let serving = runtime.spawn(server.serve(stop.clone()));
    let method = word(&["GET", "POST", "POST", "POST", "DELETE", "OPTIONS", "PUT"]);
    let path = word(&[
        "/mcp",
        "/mcp",
        "/mcp/x",
        "/p/lean/mcp",
        "/messages?sessionId=x",
        "/health",
        "/api",
        "/metrics",
        "//",
        "/%00",
    ]);
    proptest!(ProptestConfig::with_cases(400), |(method in method, path in path, headers in vec(header(), 0..6), body in body())| {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{}Content-Length: {}\r\n\r\n", headers.concat(), body.len());
        let found = runtime.block_on(status(address, &[head.as_bytes(), &body].concat()));
        prop_assert!(found.is_none_or(|status| status < 500), "{:?} for {}", found, head);
        let alive = format!("GET /health HTTP/1.1\r\nHost: {address}\r\n\r\n");
        prop_assert_eq!(runtime.block_on(status(address, alive.as_bytes())), Some(200));
    });
    stop.cancel();
    runtime.block_on(async { timeout(PATIENCE, serving).await.expect("the server ends").unwrap() });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

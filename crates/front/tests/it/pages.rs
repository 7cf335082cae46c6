//! What the server says of itself beside the protocol passes the filters, as all does that leaves.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Filter, Outcome, ToolItem};
use toolgate_front::http::{HttpConfig, Server};
use toolgate_testkit::{BrokenFilter, FakeFilter, FakeSource, builder, text, tool_item};

use crate::scene::{Nobody, PATIENCE};

/// What a page says, and its status, where a tool's title holds `hunter2`.
async fn page(path: &str, filter: Box<dyn Filter>) -> String {
    let item = ToolItem { title: Some("Log in with hunter2".into()), ..tool_item("login") };
    let source = FakeSource::new("fake").tool_as(item, |_, _| async { Ok(Outcome::Complete(text("in"))) });
    let hub = builder([Arc::new(source)]).filter(filter).build().unwrap();
    let config = HttpConfig { port: 0, ..HttpConfig::default() };
    let server = Server::bind(hub.clone(), config, Arc::new(Nobody)).await.unwrap();
    let (address, stop) = (server.address(), CancellationToken::new());
    hub.tasks().spawn(server.serve(stop.clone()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer)).await.expect("an answer").unwrap();
    stop.cancel();
    answer
}

#[tokio::test]
async fn what_is_offered_passes_the_filters() {
    let shown = page("/api", Box::new(FakeFilter::new("hunter2", "[REDACTED]"))).await;
    assert!(shown.starts_with("HTTP/1.1 200 "), "{shown}");
    assert!(shown.contains("Log in with [REDACTED]") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_filter_that_breaks_down_lets_nothing_out() {
    let shown = page("/api", Box::new(BrokenFilter)).await;
    assert!(shown.starts_with("HTTP/1.1 500 "), "{shown}");
    assert!(!shown.contains("login") && !shown.contains("hunter2"), "{shown}");
}

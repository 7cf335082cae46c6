//! The floor of a hop: a forwarder that reads the envelope of a message and passes its bytes on. It decides nothing.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};

/// The envelope of a message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Headers that are passed on.
const PASSED: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let listener = bench_hop::listen().await?.tap_io(|stream| {
        // Without it the kernel may hold answers back; a socket that refuses is only slower.
        stream.set_nodelay(true).ok();
    });
    let routes = match &arguments[..] {
        [url] if url.starts_with("http") => {
            let client = reqwest::Client::builder().tcp_nodelay(true).build()?;
            Router::new().route("/mcp", post(to_address)).with_state((client, url.clone()))
        }
        [program, rest @ ..] => {
            let (program, child) = Program::start(program, rest)?;
            // It lives as long as this does.
            tokio::spawn(async move { child.wait_with_output().await });
            Router::new().route("/mcp", post(to_program)).with_state(program)
        }
        [] => bail!("usage: hub-forward URL | COMMAND [ARGUMENT...]"),
    };
    axum::serve(listener, routes).await?;
    Ok(())
}

fn failed(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

async fn to_address(
    State((client, url)): State<(reqwest::Client, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    if serde_json::from_slice::<Envelope<'_>>(&body).is_err() {
        return failed(StatusCode::BAD_REQUEST);
    }
    let mut request = client.post(&url).body(body);
    request = request
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream");
    for name in PASSED {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    let Ok(answer) = request.send().await else { return failed(StatusCode::BAD_GATEWAY) };
    let mut response = failed(answer.status());
    for name in ["content-type", "mcp-session-id"] {
        if let Some(value) = answer.headers().get(name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    let Ok(bytes) = answer.bytes().await else { return failed(StatusCode::BAD_GATEWAY) };
    *response.body_mut() = Body::from(bytes);
    response
}

/// A program, and what it has not answered yet.
#[derive(Clone)]
struct Program {
    input: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>>,
    next: Arc<AtomicU64>,
}

impl Program {
    fn start(program: &str, arguments: &[String]) -> Result<(Self, Child)> {
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("no standard input")?;
        let stdout = child.stdout.take().context("no standard output")?;
        let (input, mut lines) = mpsc::channel::<Vec<u8>>(256);
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if stdin.write_all(&line).await.is_err() {
                    return;
                }
            }
        });
        let this = Self { input, waiting: Arc::default(), next: Arc::default() };
        let waiting = this.waiting.clone();
        tokio::spawn(async move {
            let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
                answered(&waiting, std::mem::take(&mut line));
            }
        });
        Ok((this, child))
    }
}

fn answered(waiting: &Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>, line: Vec<u8>) {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) else { return };
    let Some(id) = envelope.id.and_then(|id| id.get().parse().ok()) else { return };
    let waits = waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    if let Some(waits) = waits {
        // Who asked may have gone.
        waits.send(line).ok();
    }
}

async fn to_program(State(program): State<Program>, body: Bytes) -> Response<Body> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&body) else {
        return failed(StatusCode::BAD_REQUEST);
    };
    let method = envelope.method.unwrap_or_default();
    let params = envelope.params.map_or("{}", RawValue::get);
    let Some(id) = envelope.id else {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n");
        program.input.send(line.into_bytes()).await.ok();
        return failed(StatusCode::ACCEPTED);
    };
    let own = program.next.fetch_add(1, Ordering::Relaxed);
    let (sender, answer) = oneshot::channel();
    program.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(own, sender);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{own},\"method\":\"{method}\",\"params\":{params}}}\n");
    if program.input.send(line.into_bytes()).await.is_err() {
        return failed(StatusCode::BAD_GATEWAY);
    }
    let Ok(line) = answer.await else { return failed(StatusCode::BAD_GATEWAY) };
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) else {
        return failed(StatusCode::BAD_GATEWAY);
    };
    let (key, value) = match (envelope.result, envelope.error) {
        (Some(result), _) => ("result", result),
        (None, Some(error)) => ("error", error),
        (None, None) => return failed(StatusCode::BAD_GATEWAY),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"{key}":{value}}}"#);
    let response =
        Response::builder().header(CONTENT_TYPE, "application/json").header("Mcp-Session-Id", "one");
    response.body(Body::from(text)).unwrap_or_else(|_| failed(StatusCode::INTERNAL_SERVER_ERROR))
}

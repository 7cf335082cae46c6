//! The server behind the gateways: an echo tool among others, as raw as it can be, on standard streams or over HTTP.
//!
//! It speaks the legacy era, which all gateways do, and keeps no sessions although it names one.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Result, bail};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hub-echo","version":"1"}}"#;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["stdio", tools] => stdio(&list(tools.parse()?)).await,
        ["http", tools] => http(list(tools.parse()?)).await,
        _ => bail!("usage: hub-echo stdio|http TOOLS"),
    }
}

/// The list of tools: the echo under two names, as some gateways put a name before it, and others that nobody calls.
fn list(tools: usize) -> String {
    let schema = r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
    let names = ["test_echo".to_owned(), "echo".to_owned()]
        .into_iter()
        .chain((2..tools).map(|n| format!("other_{n}")));
    // Without these a rule that asks for what changes the world would match.
    let hints = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}"#;
    let tools = names.map(|name| {
        format!(
            r#"{{"name":"{name}","description":"Answer with the message it was given.","inputSchema":{schema},"annotations":{hints}}}"#
        )
    });
    format!(r#"{{"tools":[{}]}}"#, tools.collect::<Vec<_>>().join(","))
}

/// The answer to a message; none to what has none.
fn answer(bytes: &[u8], list: &str) -> Result<Option<Vec<u8>>> {
    let message: Message<'_> = serde_json::from_slice(bytes)?;
    let (Some(id), Some(method)) = (message.id, message.method) else { return Ok(None) };
    let mut out = Vec::with_capacity(256);
    write!(out, r#"{{"jsonrpc":"2.0","id":{id},"#)?;
    match method {
        "tools/call" => {
            let params: Params<'_> = serde_json::from_str(message.params.map_or("{}", RawValue::get))?;
            let text = params.arguments.message;
            write!(out, r#""result":{{"content":[{{"type":"text","text":{text}}}],"isError":false}}}}"#)?;
        }
        "tools/list" => write!(out, r#""result":{list}}}"#)?,
        "initialize" => write!(out, r#""result":{INITIALIZED}}}"#)?,
        "ping" => write!(out, r#""result":{{}}}}"#)?,
        _ => write!(out, r#""error":{{"code":-32601,"message":"unknown method"}}}}"#)?,
    }
    Ok(Some(out))
}

async fn stdio(list: &str) -> Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut output = tokio::io::stdout();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        if let Some(mut answer) = answer(&line, list)? {
            answer.push(b'\n');
            output.write_all(&answer).await?;
            output.flush().await?;
        }
        line.clear();
    }
    Ok(())
}

async fn http(list: String) -> Result<()> {
    let listener = bench_hop::listen().await?.tap_io(|stream| {
        // Without it the kernel may hold answers back; a socket that refuses is only slower.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, Router::new().route("/mcp", post(reply)).with_state(Arc::new(list))).await?;
    Ok(())
}

async fn reply(State(list): State<Arc<String>>, body: Bytes) -> Response<Body> {
    let empty = |status| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        response
    };
    match answer(&body, &list) {
        Ok(Some(answer)) => {
            let builder =
                Response::builder().header(CONTENT_TYPE, "application/json").header("Mcp-Session-Id", "one");
            builder.body(Body::from(answer)).unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR))
        }
        Ok(None) => empty(StatusCode::ACCEPTED),
        Err(_) => empty(StatusCode::BAD_REQUEST),
    }
}

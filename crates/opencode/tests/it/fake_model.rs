//! A model on this machine that does what the prompt says, as an OpenAI-compatible server.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_host::Tasks;

/// How long a slow answer takes at most.
const SLOW: Duration = Duration::from_secs(120);

/// Starts it, and tells its address.
pub(crate) async fn start(tasks: &Tasks) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let all = tasks.clone();
    tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // OpenCode hangs up whenever it likes.
            all.spawn(async move { drop(serve(stream).await) });
        }
    });
    address
}

async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let last = request["messages"].as_array().unwrap().last().unwrap().clone();
    let prompt = prompt(&request);
    if prompt.contains("fail now") {
        let body = json!({"error": {"message": "the fake model is out of order", "code": "bad"}}).to_string();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        return stream.write_all(format!("{head}{body}").as_bytes()).await;
    }
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        .await?;
    if prompt.contains("think slowly") && request["tools"].is_array() {
        send(&mut stream, &json!({"role": "assistant", "content": "thinking "}), None).await?;
        let mut rest = [0; 64];
        // Until the other side hangs up.
        drop(tokio::time::timeout(SLOW, stream.read(&mut rest)).await);
        return Ok(());
    }
    let delta = answer(&prompt, &last, request["tools"].is_array());
    let finish = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    send(&mut stream, &delta, None).await?;
    send(&mut stream, &json!({}), Some(finish)).await?;
    stream.write_all(b"data: [DONE]\n\n").await
}

/// What the model says or does.
fn answer(prompt: &str, last: &Value, with_tools: bool) -> Value {
    if !with_tools {
        return json!({"role": "assistant", "content": "A title"});
    }
    if last["role"] == "tool" {
        return json!({"role": "assistant", "content": format!("TOOL SAID: {}", words(&last["content"]))});
    }
    if let Some((_, command)) = prompt.split_once("run bash: ") {
        return call("bash", &json!({"command": command, "description": "runs a command"}));
    }
    if prompt.contains("ask for a colour") {
        let options = json!([{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]);
        let question = json!({"question": "Which colour?", "header": "Colour", "options": options});
        return call("question", &json!({"questions": [question]}));
    }
    json!({"role": "assistant", "content": format!("ECHO: {prompt}")})
}

fn call(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
}

async fn send(stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> std::io::Result<()> {
    let mut chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    if finish.is_some() {
        chunk["usage"] = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
    }
    stream.write_all(format!("data: {chunk}\n\n").as_bytes()).await
}

/// All that people said last, files included.
fn prompt(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.map(|message| words(&message["content"])).unwrap_or_default()
}

fn words(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(|part| words(&part["text"])).collect::<Vec<_>>().join("\n"),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 16384];
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            return Ok(serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap());
        }
    }
}

//! A model on this machine that does what the prompt says, as an OpenAI-compatible server.

use std::collections::HashSet;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long a slow answer takes at most.
const SLOW: Duration = Duration::from_secs(120);

/// The prompts that were refused once.
type Refused = Arc<Mutex<HashSet<String>>>;

/// Starts it, and tells its address. It ends with the process.
pub(super) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let refused = Refused::default();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let refused = refused.clone();
            // OpenCode hangs up whenever it likes.
            thread::spawn(move || drop(serve(stream, &refused)));
        }
    });
    address
}

fn serve(mut stream: TcpStream, refused: &Refused) -> io::Result<()> {
    let request = read(&mut stream)?;
    let with_tools = request["tools"].is_array();
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let prompt = prompt(messages);
    if prompt.contains("fail now") {
        return refuse(&mut stream, "400 Bad Request", "the fake model is out of order");
    }
    let first = || refused.lock().unwrap_or_else(PoisonError::into_inner).insert(prompt.clone());
    if with_tools && prompt.contains("be busy once") && first() {
        return refuse(&mut stream, "429 Too Many Requests", "the fake model is busy");
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    if prompt.contains("think slowly") && with_tools {
        send(&mut stream, &json!({"role": "assistant", "content": "thinking "}), None)?;
        // Until the other side hangs up.
        stream.set_read_timeout(Some(SLOW))?;
        return stream.read(&mut [0; 64]).map(|_| ());
    }
    let last = messages.last().cloned().unwrap_or_default();
    let delta = answer(&prompt, &last, with_tools);
    let finish = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    send(&mut stream, &delta, None)?;
    send(&mut stream, &json!({}), Some(finish))?;
    stream.write_all(b"data: [DONE]\n\n")
}

fn refuse(stream: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let body = json!({"error": {"message": words, "code": "bad"}}).to_string();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nretry-after-ms: 200\r\n");
    write!(stream, "{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
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
    if let Some((_, path)) = prompt.split_once("write a file: ") {
        return call("write", &json!({"filePath": path, "content": "written by the model\n"}));
    }
    if prompt.contains("make a list") {
        let item = |content, status| json!({"content": content, "status": status, "priority": "high"});
        let todos = [item("look around", "completed"), item("mend the roof", "in_progress")];
        return call("todowrite", &json!({"todos": todos}));
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

fn send(stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> io::Result<()> {
    let mut chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    if finish.is_some() {
        chunk["usage"] = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
    }
    write!(stream, "data: {chunk}\n\n")
}

/// All that people said last, files included.
fn prompt(messages: &[Value]) -> String {
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.map(|message| words(&message["content"])).unwrap_or_default()
}

fn words(content: &Value) -> String {
    match content.as_array() {
        Some(parts) => parts.iter().map(|part| words(&part["text"])).collect::<Vec<_>>().join("\n"),
        None => content.as_str().unwrap_or_default().to_owned(),
    }
}

fn read(stream: &mut TcpStream) -> io::Result<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 16384];
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
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

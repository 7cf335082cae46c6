//! The same server over HTTP/1.1, by hand and in this process.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolgate_host::Tasks;

use crate::behaviour::Server;

/// Larger bodies are too large.
const LIMIT: usize = 1024 * 1024;

pub(crate) struct Web {
    pub(crate) port: u16,
    tasks: Tasks,
}

struct State {
    behaviour: String,
    sessions: Mutex<HashSet<String>>,
    /// Whether it has sent a stream without end.
    flooded: AtomicBool,
}

struct Asked {
    method: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

/// What is answered; an open stream stays open until the client leaves.
struct Reply {
    status: u16,
    kind: &'static str,
    session: Option<String>,
    body: String,
    open: bool,
    /// What follows on an open stream, again and again.
    flood: String,
}

impl Web {
    pub(crate) async fn start(behaviour: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            behaviour: behaviour.to_owned(),
            sessions: Mutex::default(),
            flooded: AtomicBool::new(false),
        });
        let tasks = Tasks::new();
        let owner = tasks.clone();
        tasks.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                owner.spawn(serve(socket, state.clone()));
            }
        });
        Self { port, tasks }
    }

    pub(crate) async fn stop(self) {
        self.tasks.shutdown(Duration::ZERO).await;
    }
}

async fn serve(socket: TcpStream, state: Arc<State>) {
    let mut stream = BufReader::new(socket);
    while let Some(asked) = read(&mut stream).await {
        let reply = if asked.body.len() > LIMIT { plain(413) } else { answer(&state, &asked) };
        let session = reply.session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let length =
            if reply.open { String::new() } else { format!("Content-Length: {}\r\n", reply.body.len()) };
        let kind =
            if reply.body.is_empty() { String::new() } else { format!("Content-Type: {}\r\n", reply.kind) };
        let text = format!("HTTP/1.1 {} x\r\n{kind}{session}{length}\r\n{}", reply.status, reply.body);
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
        while !reply.flood.is_empty() {
            if stream.write_all(reply.flood.as_bytes()).await.is_err() {
                return;
            }
        }
        if reply.open {
            // The client says nothing more on this connection; it leaves.
            drop(stream.fill_buf().await);
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let method = head.split(' ').next()?.to_owned();
    let headers: HashMap<String, String> = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked { method, headers, body })
}

fn plain(status: u16) -> Reply {
    Reply {
        status,
        kind: "text/plain",
        session: None,
        body: String::new(),
        open: false,
        flood: String::new(),
    }
}

fn message(status: u16, body: String) -> Reply {
    Reply { status, kind: "application/json", session: None, body, open: false, flood: String::new() }
}

fn stream(first: &str) -> Reply {
    let body = format!("data: {first}\n\n");
    Reply { kind: "text/event-stream", open: true, ..message(200, body) }
}

fn answer(state: &State, asked: &Asked) -> Reply {
    let mut server = Server::new(&state.behaviour);
    let header = |name: &str| asked.headers.get(name).map(String::as_str);
    if server.is("locked") {
        return plain(401);
    }
    if header("origin").is_some() && !server.is("origin") {
        return plain(403);
    }
    match asked.method.as_str() {
        "POST" => {}
        "DELETE" => return plain(200),
        _ => return plain(405),
    }
    let Ok(body) = serde_json::from_slice::<Value>(&asked.body) else {
        return message(400, Server::refusal(-32700, "not JSON"));
    };
    let modern = body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    if modern && server.is("floods") && !state.flooded.swap(true, Ordering::Relaxed) {
        // Each takes longer to be read than to be sent.
        let params = json!({"level": "info", "data": vec![0; 1000]});
        let said = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
        let flood = format!("data: {said}\n\n").repeat(100);
        return Reply { flood, ..stream(&server.take(&body).concat()) };
    }
    let mut reply = if modern {
        modern_reply(&mut server, &body, header("mcp-method"))
    } else {
        legacy_reply(&mut server, state, &body, header("mcp-session-id"))
    };
    if server.is("content-type") && reply.kind == "application/json" {
        reply.kind = "text/html";
    }
    reply
}

fn modern_reply(server: &mut Server, body: &Value, named: Option<&str>) -> Reply {
    if named != body["method"].as_str() && !server.is("header-mismatch") {
        let error = json!({"code": -32020, "message": "header mismatch"});
        return message(400, json!({"jsonrpc": "2.0", "id": body["id"], "error": error}).to_string());
    }
    let answers = server.take(body);
    let Some(first) = answers.first() else { return plain(202) };
    if body["method"] == "subscriptions/listen" {
        return stream(first);
    }
    let code = serde_json::from_str::<Value>(first).unwrap()["error"]["code"].as_i64();
    let status = match code {
        Some(-32601) if !server.is("modern-status") => 404,
        Some(-32022) => 400,
        _ => 200,
    };
    message(status, first.clone())
}

fn legacy_reply(server: &mut Server, state: &State, body: &Value, session: Option<&str>) -> Reply {
    if body["method"] == "initialize" {
        let id = format!("session-{}", state.sessions.lock().unwrap().len());
        let granted = body["params"]["protocolVersion"].as_str().unwrap_or_default();
        let id = if granted == "2025-03-26" { format!("{id}-batch") } else { id };
        state.sessions.lock().unwrap().insert(id.clone());
        return Reply { session: Some(id), ..message(200, server.take(body).concat()) };
    }
    match session {
        None => return message(400, Server::refusal(-32000, "no session")),
        Some(id) if !state.sessions.lock().unwrap().contains(id) && !server.is("unknown-session") => {
            return message(404, Server::refusal(-32001, "no such session"));
        }
        Some(id) if id.ends_with("-batch") => {
            let opening =
                json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}});
            server.take(&opening);
        }
        Some(_) => {}
    }
    if body.get("id").is_none() && !body.is_array() {
        return plain(if server.is("notification-status") { 200 } else { 202 });
    }
    message(200, server.take(body).concat())
}

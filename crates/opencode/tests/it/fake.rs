//! A fake OpenCode for what the real one cannot be made to do: each test says what it answers otherwise than usual.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use toolgate_core::Hub;
use toolgate_host::Tasks;
use toolgate_opencode::OpencodeConfig;

use crate::stage::STAGE;

/// What it is asked for.
pub(crate) struct Request {
    /// The method and the path, such as `GET /session/status`.
    pub(crate) line: String,
    pub(crate) body: Value,
}

/// What it answers.
pub(crate) enum Reply {
    Json(Value),
    /// Of another type.
    Text(&'static str, String),
    /// A stream of events that ends with these bytes.
    Stream(Vec<u8>),
    /// A stream of events that says no more than this.
    Open(Vec<u8>),
    /// It hangs up.
    None,
    /// Not before all have come to the barrier.
    Met(Arc<Barrier>, Box<Reply>),
}

type Otherwise = Box<dyn Fn(&Request) -> Option<Reply> + Send + Sync>;

/// A fake OpenCode.
pub(crate) struct Fake {
    otherwise: Otherwise,
    /// The id of the last prompt of each session.
    prompts: Mutex<HashMap<String, String>>,
    seen: Mutex<Vec<String>>,
}

impl Fake {
    /// Starts one, with a hub on it.
    pub(crate) async fn start(
        config: OpencodeConfig,
        otherwise: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> (Arc<Self>, Hub, Tasks) {
        let (fake, url) = Self::listen(otherwise).await;
        let (hub, tasks) = STAGE.other(OpencodeConfig { server_url: Some(url), ..config });
        (fake, hub, tasks)
    }

    /// Starts one, and tells its address.
    pub(crate) async fn listen(
        otherwise: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { otherwise: Box::new(otherwise), prompts: Mutex::default(), seen: Mutex::default() };
        let fake = Arc::new(fake);
        let (kept, tasks) = (fake.clone(), STAGE.tasks.clone());
        STAGE.tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let fake = fake.clone();
                tasks.spawn(async move { drop(fake.serve(stream).await) });
            }
        });
        (kept, url)
    }

    /// How often it was asked for this.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| *seen == line).count()
    }

    /// What it was asked for of these, in order.
    pub(crate) fn order(&self, lines: &[&str]) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|line| lines.contains(&line.as_str())).cloned().collect()
    }

    /// Waits until it was asked for this.
    pub(crate) async fn asked(&self, line: &str) {
        self.until(|fake| fake.count(line) > 0).await;
    }

    /// Waits until this is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = read(&mut stream).await?;
        self.seen.lock().unwrap().push(request.line.clone());
        let mut reply = (self.otherwise)(&request).unwrap_or_else(|| self.usual(&request));
        while let Reply::Met(barrier, then) = reply {
            barrier.wait().await;
            reply = *then;
        }
        let (kind, body) = match reply {
            Reply::Json(value) => ("application/json", value.to_string()),
            Reply::Text(kind, text) => (kind, text),
            Reply::None | Reply::Met(..) => return Ok(()),
            Reply::Stream(bytes) => return begin(&mut stream, &bytes).await,
            Reply::Open(bytes) => {
                begin(&mut stream, &bytes).await?;
                // Until the other side hangs up.
                return stream.read(&mut [0; 8]).await.map(|_| ());
            }
        };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
        stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).await
    }

    /// What an OpenCode answers whose sessions stand still once they have replied.
    fn usual(&self, request: &Request) -> Reply {
        let (method, path) = request.line.split_once(' ').unwrap();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let mut prompts = self.prompts.lock().unwrap();
        Reply::Json(match (method, parts.as_slice()) {
            (_, ["global", "health"]) => json!({"healthy": true, "version": "0"}),
            (_, ["global", "event"]) => {
                let connected = json!({"payload": {"type": "server.connected", "properties": {}}});
                return Reply::Open(format!("data: {connected}\n\n").into_bytes());
            }
            ("POST", ["session"]) => {
                let id = format!("ses_{}", prompts.len());
                prompts.insert(id.clone(), String::new());
                json!({"id": id, "directory": "/"})
            }
            (_, ["session", "status"]) => json!({}),
            (_, ["session", _, "children"]) | (_, ["permission" | "question"]) => json!([]),
            (_, ["session", _, "abort"]) | (_, ["permission" | "question", _, _]) => json!(true),
            (_, ["session", id, "prompt_async"]) => {
                prompts.insert((*id).to_owned(), request.body["messageID"].as_str().unwrap().to_owned());
                Value::Null
            }
            (_, ["session", id, "message"]) => json!([replied(&prompts[*id], "still here")]),
            (_, ["session", id]) => json!({"id": id, "directory": "/"}),
            other => panic!("{other:?} is asked for"),
        })
    }
}

/// Begins a stream of events.
async fn begin(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(bytes).await
}

/// A reply to a prompt.
pub(crate) fn replied(prompt: &str, text: &str) -> Value {
    let info = json!({"id": "msg_r", "role": "assistant", "parentID": prompt, "time": {"completed": 1},
        "finish": "stop"});
    json!({"info": info, "parts": [{"type": "text", "text": text}]})
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await?;
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let line = head.split(['?', '\r']).next().unwrap();
                let line = line.strip_suffix(" HTTP/1.1").unwrap_or(line).to_owned();
                return Ok(Request { line, body: serde_json::from_str(body).unwrap_or_default() });
            }
        }
        assert!(read > 0, "a whole request");
    }
}

//! Tasks over HTTP: with a session and without, and the tasks of others.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticated, Authenticator, Hub, Pass, Principal, ProtectedResource};
use toolgate_front::http::{HttpConfig, Server};

use super::{RELATED, on, scene, wanted};
use crate::scene::{PATIENCE, runtime};
use crate::schema::check_schema;

/// Takes every bearer at its word.
struct Anyone;

impl Authenticator for Anyone {
    fn authenticate(&self, bearer: &str, _profile: Option<&str>) -> Authenticated {
        Authenticated::Now(Ok(Pass::new(Principal::named(bearer))))
    }

    fn knows_anyone(&self) -> bool {
        true
    }

    fn demands(&self) -> bool {
        true
    }

    fn resource(&self) -> Option<Arc<ProtectedResource>> {
        None
    }

    fn ended(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }
}

/// One client: who it is, and its session once it has one.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    who: &'static str,
    session: Option<String>,
}

impl Client {
    /// Opens a connection with one request on it.
    async fn post(&self, message: &Value, accept: &str) -> BufReader<TcpStream> {
        let body = message.to_string();
        let session = self.session.iter().map(|id| format!("Mcp-Session-Id: {id}\r\n")).collect::<String>();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Accept: {accept}\r\nAuthorization: Bearer {}\r\n{session}Content-Length: {}\r\n\r\n{body}",
            self.who,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        BufReader::new(stream)
    }

    /// The whole answer as one JSON body.
    async fn ask(&self, method: &str, params: Value) -> (String, Value) {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut reply = String::new();
        let mut stream = self.post(&message, "application/json").await;
        timeout(PATIENCE, stream.read_to_string(&mut reply)).await.unwrap().unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {reply}")))
    }

    /// Says something that has no answer; the status it is taken with.
    pub(crate) async fn notify(&self, method: &str) -> String {
        let message = json!({"jsonrpc": "2.0", "method": method});
        let mut reply = String::new();
        let mut stream = self.post(&message, "application/json").await;
        timeout(PATIENCE, stream.read_to_string(&mut reply)).await.unwrap().unwrap();
        reply.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    pub(crate) async fn greet(&mut self) {
        let client = json!({"name": "c", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": client});
        let (head, _) = self.ask("initialize", hello).await;
        let id = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(String::from));
        self.session = Some(id.expect("a session"));
    }

    async fn begin(&self, tool: &str) -> Value {
        self.ask("tools/call", wanted(tool)).await.1["result"]["task"].clone()
    }
}

/// The next message on a stream of events.
async fn event(stream: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut line = String::new();
        let read = timeout(PATIENCE, stream.read_line(&mut line)).await.expect("nothing comes").unwrap();
        assert!(read > 0, "the stream ended");
        if let Some(data) = line.strip_prefix("data: ").filter(|data| data.starts_with('{')) {
            return serde_json::from_str(data).unwrap();
        }
    }
}

fn served(test: impl AsyncFnOnce(Client)) {
    served_by(scene, async |client, _| test(client).await);
}

/// One client of a hub over HTTP.
pub(crate) fn served_by(scene: impl FnOnce() -> Hub, test: impl AsyncFnOnce(Client, Hub)) {
    runtime().block_on(async {
        let (hub, stop) = (scene(), CancellationToken::new());
        let config = HttpConfig { port: 0, ..HttpConfig::default() };
        let server = Server::bind(hub.clone(), config, Arc::new(Anyone)).await.unwrap();
        let address = server.address();
        hub.tasks().spawn(server.serve(stop.clone()));
        test(Client { address, who: "ann", session: None }, hub).await;
        stop.cancel();
    });
}

#[test]
fn a_task_asks_on_the_stream_of_who_waits_for_its_result() {
    served(async |mut ann| {
        ann.greet().await;
        let task = ann.begin("ask").await;
        assert_eq!(task["status"], "working");
        let wait = json!({"jsonrpc": "2.0", "id": "w", "method": "tasks/result", "params": on(&task)});
        // Who waits may lose its connection, and wait again.
        let mut lost = ann.post(&wait, "application/json, text/event-stream").await;
        event(&mut lost).await;
        let (_, cancelled) = ann.ask("ping", json!({})).await;
        assert_eq!(cancelled["result"], json!({}));
        drop(lost);
        let stop =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}});
        ann.post(&stop, "application/json").await.read_to_string(&mut String::new()).await.unwrap();
        let wait = json!({"jsonrpc": "2.0", "id": "w2", "method": "tasks/result", "params": on(&task)});
        let mut stream = ann.post(&wait, "application/json, text/event-stream").await;
        let question = event(&mut stream).await;
        assert_eq!(question["params"]["_meta"][RELATED], on(&task), "{question}");
        check_schema("ElicitRequest", &question);
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
        ann.post(&answer, "application/json").await.read_to_string(&mut String::new()).await.unwrap();
        let done = event(&mut stream).await;
        assert_eq!(done["id"], "w2");
        check_schema("CallToolResult", &done["result"]);
        assert_eq!(done["result"]["content"][0]["text"], r#"{"q":{"action":"decline"}}"#);
        assert_eq!(ann.ask("tasks/result", on(&task)).await.1["result"], done["result"]);
    });
}

#[test]
fn tasks_are_their_principals_own_with_a_session_and_without() {
    served(async |mut ann| {
        let (bob, bare) = (Client { who: "bob", ..ann.clone() }, ann.clone());
        ann.greet().await;
        let task = ann.begin("hang").await;
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let (_, theirs) = bob.ask(method, on(&task)).await;
            let (_, nobodys) = bob.ask(method, json!({"taskId": "none"})).await;
            assert_eq!(theirs["error"], nobodys["error"], "{method}");
            assert_eq!(theirs["error"]["code"], -32602, "{method}");
        }
        assert_eq!(bob.ask("tasks/list", json!({})).await.1["result"], json!({"tasks": []}));
        assert_eq!(bare.ask("tasks/get", on(&task)).await.1["result"]["status"], "working");
        assert_eq!(bare.ask("tasks/cancel", on(&task)).await.1["result"]["status"], "cancelled");
        assert_eq!(ann.ask("tasks/get", on(&task)).await.1["result"]["status"], "cancelled");
    });
}

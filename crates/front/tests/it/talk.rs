//! A conversation over standard input and output, in which messages come in any order.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::Hub;
use toolgate_front::stdio::{StdioLimits, serve};

use crate::scene::PATIENCE;
use crate::schema::check_schema;

/// How long what is under way may go on when the input ends.
const GRACE: Duration = Duration::from_millis(200);

pub(crate) struct Talk {
    typed: DuplexStream,
    shown: Lines<BufReader<DuplexStream>>,
    /// What came before it was asked for.
    early: VecDeque<Value>,
    next: u64,
    _hub: Hub,
}

impl Talk {
    pub(crate) async fn begin(hub: Hub) -> Self {
        let (typed, read) = duplex(1 << 16);
        let (written, shown) = duplex(1 << 16);
        let limits = StdioLimits { grace: GRACE, ..StdioLimits::default() };
        hub.tasks().spawn(serve(hub.clone(), None, read, written, limits, CancellationToken::new()));
        Self { typed, shown: BufReader::new(shown).lines(), early: VecDeque::new(), next: 0, _hub: hub }
    }

    /// Says hello as a client that can fill in forms; what the server can do.
    pub(crate) async fn greet(&mut self, version: &str) -> Value {
        let client = json!({"name": "c", "version": "1"});
        let hello =
            json!({"protocolVersion": version, "capabilities": {"elicitation": {}}, "clientInfo": client});
        let greeting = self.ask("initialize", hello).await;
        check_schema("InitializeResult", &greeting);
        self.notify("notifications/initialized", json!({})).await;
        greeting["capabilities"].clone()
    }

    /// Sends a request; its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    pub(crate) async fn answer(&mut self, question: &Value, result: Value) {
        self.write(json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.result(&id).await
    }

    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.error(&id).await
    }

    pub(crate) async fn result(&mut self, id: &Value) -> Value {
        let message = self.until(|message| message.get("method").is_none() && message["id"] == *id).await;
        check_schema("JSONRPCResultResponse", &message);
        message["result"].clone()
    }

    pub(crate) async fn error(&mut self, id: &Value) -> Value {
        let message = self.until(|message| message.get("method").is_none() && message["id"] == *id).await;
        check_schema("JSONRPCErrorResponse", &message);
        message["error"].clone()
    }

    /// The next question of the server.
    pub(crate) async fn question(&mut self) -> Value {
        self.until(|message| message.get("method").is_some() && message.get("id").is_some()).await
    }

    /// The params of a notification that is as wanted.
    pub(crate) async fn told(&mut self, method: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let message = self.until(|message| message["method"] == method && wanted(&message["params"])).await;
        check_schema(
            if method.contains("tasks") { "TaskStatusNotification" } else { "JSONRPCNotification" },
            &message,
        );
        message["params"].clone()
    }

    /// Whether a notification has come, and was not asked for yet.
    pub(crate) fn heard(&self, method: &str) -> bool {
        self.early.iter().any(|message| message["method"] == method)
    }

    /// Ends the input; the server has to end then too. What it still says.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        self.typed.shutdown().await.unwrap();
        drop(self.typed);
        let mut rest = Vec::from(self.early);
        let reading = async {
            while let Some(line) = self.shown.next_line().await.unwrap() {
                rest.push(serde_json::from_str(&line).unwrap());
            }
        };
        timeout(PATIENCE, reading).await.expect("the connection ends with its input");
        rest
    }

    async fn write(&mut self, message: Value) {
        self.typed.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.early.iter().position(&wanted) {
            return self.early.remove(place).unwrap();
        }
        loop {
            let line = timeout(PATIENCE, self.shown.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("it never comes; before it: {:?}", self.early));
            let message: Value = serde_json::from_str(&line.unwrap().expect("the output ended")).unwrap();
            if wanted(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }
}

//! A small MCP server over HTTP, in this process: of either era, with sessions or without, and in many ways wrong.

pub(crate) mod wire;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use toolgate_host::Tasks;
use toolgate_wire::{Raw, headers};
use wire::{Asked, Reply, stream, whole};

use crate::fake::{GOLDEN, GOLDEN_TOOL};

/// A server over HTTP.
pub(crate) struct Web {
    pub(crate) url: String,
    pub(crate) seen: Arc<Seen>,
    tasks: Tasks,
}

/// Looks at every request first.
pub(crate) type Door = Box<dyn Fn(&Asked) -> Option<Reply> + Send + Sync>;

/// What the server remembers, for tests to look at and to change.
#[derive(Default)]
pub(crate) struct Seen {
    behaviour: String,
    /// Who stands at the door, and answers instead if it does not let a request in.
    door: Option<Door>,
    /// The sessions that are open.
    sessions: Mutex<HashSet<String>>,
    pub(crate) initialized: AtomicUsize,
    pub(crate) deleted: AtomicUsize,
    pub(crate) connections: AtomicUsize,
    pub(crate) calls: AtomicUsize,
    pub(crate) lists: AtomicUsize,
    /// Where answers and news go that belong to no request.
    streams: Mutex<Vec<mpsc::UnboundedSender<String>>>,
    /// Where the client's answers to questions go.
    answers: Mutex<Option<mpsc::UnboundedSender<Value>>>,
    /// The rest of an answer that broke off.
    rest: Mutex<Option<String>>,
    /// How many streams of its own were ever opened, and how many notifications came that calls were given up.
    pub(crate) opened: AtomicUsize,
    pub(crate) given_up: AtomicUsize,
    /// How many slow answers wait for the word to go on, and where it is given to one of them.
    pub(crate) waiting: AtomicUsize,
    pub(crate) go: Notify,
    /// How many tasks were cancelled.
    pub(crate) cancelled: AtomicUsize,
    /// Whether a call was given up by closing its stream.
    pub(crate) closed: AtomicUsize,
}

impl Seen {
    fn is(&self, word: &str) -> bool {
        self.behaviour.split(' ').any(|other| other == word)
    }

    /// Forgets all sessions, as a server does that was started anew.
    pub(crate) fn forget(&self) {
        self.sessions.lock().unwrap().clear();
    }

    fn knows(&self, asked: &Asked) -> bool {
        let session = asked.headers.get("mcp-session-id");
        session.is_some_and(|id| self.sessions.lock().unwrap().contains(id))
    }

    /// Waits for the word, where it is slow in this.
    async fn slow(&self, what: &str) {
        if self.is(what) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            self.go.notified().await;
        }
    }

    /// Says something on all open streams.
    fn tell(&self, message: &str) {
        self.streams.lock().unwrap().retain(|stream| stream.send(message.to_owned()).is_ok());
    }

    pub(crate) fn listeners(&self) -> usize {
        self.streams.lock().unwrap().iter().filter(|stream| !stream.is_closed()).count()
    }
}

impl Web {
    pub(crate) async fn start(behaviour: &str) -> Self {
        Self::start_at(behaviour, "127.0.0.1:0").await
    }

    /// The same at an address that another had before.
    pub(crate) async fn start_at(behaviour: &str, address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        Self::serve(listener, behaviour, None)
    }

    /// A server with someone at its door.
    pub(crate) fn serve(listener: TcpListener, behaviour: &str, door: Option<Door>) -> Self {
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen { behaviour: behaviour.to_owned(), door, ..Seen::default() });
        let tasks = Tasks::new();
        let (serving, state) = (tasks.clone(), seen.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                state.connections.fetch_add(1, Ordering::SeqCst);
                let state = state.clone();
                serving.spawn(wire::serve(stream, move |asked| handle(state.clone(), asked)));
            }
        });
        Self { url: format!("http://{address}/mcp"), seen, tasks }
    }

    /// Ends it, and says where it was.
    pub(crate) async fn stop(self) -> String {
        self.tasks.shutdown(Duration::ZERO).await;
        self.address()
    }

    /// Its address and port.
    pub(crate) fn address(&self) -> String {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
    }

    pub(crate) fn table(&self) -> Value {
        json!({"url": self.url, "timeout": 60_000, "startup_timeout": 120_000, "probe_timeout": 60_000, "headers": {"X-Key": "sesame"}})
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let tasks = self.tasks.clone();
        // The runtime may be gone; then so are the tasks.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let _entered = runtime.enter();
            Tasks::new().spawn(async move { tasks.shutdown(Duration::ZERO).await });
        }
    }
}

fn json_body(status: u16, message: &Value) -> Reply {
    whole(status, "application/json", message.to_string())
}

async fn handle(seen: Arc<Seen>, asked: Asked) -> Reply {
    if let Some(reply) = seen.door.as_ref().and_then(|door| door(&asked)) {
        return reply;
    }
    if asked.headers.get("x-key").is_none_or(|key| key != "sesame") || seen.is("locked") {
        return json_body(401, &json!({})).with("WWW-Authenticate", "Bearer resource_metadata=\"x\"");
    }
    let oldest = seen.is("oldest");
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/mcp") if oldest => {
            let (sender, response) = stream();
            seen.opened.fetch_add(1, Ordering::SeqCst);
            if !seen.is("mute") {
                let at = if seen.is("misled") { "/nothing" } else { "/messages?s=1" };
                sender.send(format!("event: endpoint\ndata: {at}\n\n")).unwrap();
            }
            seen.streams.lock().unwrap().push(sender);
            response
        }
        ("POST", "/messages?s=1") if oldest => {
            let message: Value = serde_json::from_slice(&asked.body).unwrap();
            let later = seen.clone();
            Tasks::new().spawn(async move {
                let (answers, mut answered) = mpsc::unbounded_channel();
                legacy(&later, &message, &answers).await;
                drop(answers);
                while let Some(answer) = answered.recv().await {
                    later.tell(&answer);
                }
            });
            whole(202, "text/plain", "")
        }
        (_, _) if oldest => whole(405, "text/plain", "no"),
        ("DELETE", _) => {
            seen.deleted.fetch_add(1, Ordering::SeqCst);
            whole(200, "text/plain", "")
        }
        ("GET", _) if seen.is("modern") || seen.is("plain") || seen.is("streamless") => {
            whole(405, "text/plain", "no")
        }
        ("GET", _) if asked.headers.contains_key("last-event-id") && !seen.knows(&asked) => {
            whole(404, "text/plain", "no session")
        }
        ("GET", _) if asked.headers.get("last-event-id").is_some_and(|id| id == "7") => {
            let rest = seen.rest.lock().unwrap().take().unwrap_or_default();
            whole(200, "text/event-stream", format!("data: {rest}\n\n"))
        }
        ("GET", _) => {
            let (sender, response) = stream();
            seen.streams.lock().unwrap().push(sender);
            response
        }
        _ => post(&seen, asked).await,
    }
}

async fn post(seen: &Arc<Seen>, asked: Asked) -> Reply {
    let (given, text) = (asked.headers, asked.body);
    let message: Value = serde_json::from_slice(&text).unwrap();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    if seen.is("modern") {
        let params = Raw::parse(text).unwrap().get("params");
        let tool = headers::header_params(&Raw::of(&header_schema())).unwrap();
        let tool = if message["params"]["name"] == "headed" { tool } else { Vec::new() };
        let get = |name: &str| given.get(&name.to_ascii_lowercase()).map(String::as_bytes);
        if let Err(error) = headers::check(&method, params.as_ref(), get, &tool) {
            return json_body(
                400,
                &json!({"jsonrpc":"2.0","id":message["id"],"error":{"code":-32020,"message":error.to_string()}}),
            );
        }
        return modern(seen, message).await;
    }
    let is_modern = !message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null();
    if is_modern || method == "server/discover" {
        return whole(400, "text/plain", "Bad Request");
    }
    if method == "initialize" {
        let number = seen.initialized.fetch_add(1, Ordering::SeqCst);
        let (answers, mut answered) = mpsc::unbounded_channel();
        legacy(seen, &message, &answers).await;
        let text = answered.recv().await.unwrap();
        let response = whole(200, "application/json", text);
        if !seen.is("plain") {
            let id = format!("session-{number}");
            seen.sessions.lock().unwrap().insert(id.clone());
            return response.with("Mcp-Session-Id", id);
        }
        return response;
    }
    let known = seen.is("plain")
        || given.get("mcp-session-id").is_some_and(|id| seen.sessions.lock().unwrap().contains(id));
    if !known {
        let error = json!({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID"}});
        return json_body(if seen.is("says-400") { 400 } else { 404 }, &error);
    }
    if given.get("mcp-protocol-version").is_none_or(|version| version != "2025-11-25") {
        return whole(400, "text/plain", "no version");
    }
    if message["id"].is_null() || message["method"].is_null() {
        if method == "notifications/cancelled" {
            seen.given_up.fetch_add(1, Ordering::SeqCst);
            seen.slow("slow-to-hear").await;
        }
        let answers = seen.answers.lock().unwrap().clone();
        drop(answers.filter(|_| message["method"].is_null()).map(|answers| answers.send(message)));
        return whole(202, "text/plain", "");
    }
    wrong(seen, &message).unwrap_or_else(|| {
        let (sender, response) = stream();
        let seen = seen.clone();
        Tasks::new().spawn(async move { legacy(&seen, &message, &sender).await });
        response
    })
}

/// Answers that no server should give.
fn wrong(seen: &Seen, message: &Value) -> Option<Reply> {
    if message["method"] != "tools/call" {
        return None;
    }
    let result = json!({"jsonrpc":"2.0","id":message["id"],"result":{"content":[]}}).to_string();
    Some(match message["params"]["arguments"]["b"].as_str()? {
        "status" => whole(500, "text/plain", "oh no"),
        "html" => whole(200, "text/html", "<html>"),
        "broken" => whole(200, "application/json", "{\"jsonrpc\":"),
        "empty" => whole(200, "application/json", ""),
        "other" => whole(200, "application/json", r#"{"jsonrpc":"2.0","id":"other","result":{}}"#),
        "large" => whole(200, "application/json", format!("{{\"x\":\"{}\"}}", "x".repeat(17 * 1024 * 1024))),
        "cut" => whole(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\n\n"),
        "away" => whole(307, "text/plain", "").with("Location", "http://127.0.0.2:1/mcp"),
        "endless" | "drip" => dripping(message["params"]["arguments"]["b"] == "endless"),
        // It is not asked to make its answer smaller, and not understood when it does.
        "gzip" => whole(200, "application/json", GZIP).with("Content-Encoding", "gzip"),
        // On the stream of one call it answers all that came before.
        "anothers" => {
            let before = 1..message["id"].as_u64().unwrap();
            let lies = before
                .map(|id| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"lie\":1}}}}\n\n"));
            whole(200, "text/event-stream", lies.collect::<String>())
        }
        // It breaks off, and goes on when the client comes back for it.
        "resumed" => {
            *seen.rest.lock().unwrap() = Some(result);
            whole(200, "text/event-stream", "id: 7\nretry: 10\ndata:\n\n")
        }
        // It breaks off, and forgets everything: it may have done what was asked.
        "restarted" => {
            seen.calls.fetch_add(1, Ordering::SeqCst);
            seen.forget();
            whole(200, "text/event-stream", "id: 7\nretry: 10\ndata:\n\n")
        }
        _ => return None,
    })
}

/// An empty object, compressed.
const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00";

/// A stream that never comes to the end of an event: a large one at once, or comments for ever.
fn dripping(large: bool) -> Reply {
    let (sender, response) = stream();
    Tasks::new().spawn(async move {
        let piece = "x".repeat(1024 * 1024);
        drop(sender.send("data: ".into()));
        for _ in 0..if large { 17 } else { 0 } {
            drop(sender.send(piece.clone()));
        }
        while sender.send(if large { "x" } else { ": still here\n" }.into()).is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    response
}

fn header_schema() -> Value {
    json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
}

fn tools() -> String {
    let headed =
        json!({"name": "headed", "inputSchema": header_schema(), "annotations": {"readOnlyHint": true}});
    let rest = ["echo", "ask", "hang", "change", "progress"]
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}).to_string());
    let bad = json!({"name": "badly_headed", "inputSchema": {"type": "object", "properties": {"a": {"type": "object", "x-mcp-header": "A"}}}});
    format!(r#"{{"tools":[{GOLDEN_TOOL},{headed},{bad},{}]}}"#, rest.join(","))
}

/// Answers of a legacy server.
async fn legacy(seen: &Arc<Seen>, message: &Value, out: &mpsc::UnboundedSender<String>) {
    let id = &message["id"];
    let send = |result: &str| {
        drop(out.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.replace('\n', " "))))
    };
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            seen.slow("slow-start").await;
            let resources = if seen.is("streamless") { r#","resources":{"subscribe":true}"# } else { "" };
            send(&format!(
                r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{"listChanged":true}}{resources}}},"serverInfo":{{"name":"web","version":"1"}}}}"#
            ));
        }
        "resources/list" => send(r#"{"resources":[{"uri":"fake://one","name":"one"}]}"#),
        "resources/subscribe" => send("{}"),
        "tools/list" => {
            let number = seen.lists.fetch_add(1, Ordering::SeqCst);
            seen.slow("slow-list").await;
            if seen.is("endless-list") {
                return send(&format!(r#"{{"tools":[],"nextCursor":"{number}"}}"#));
            }
            send(&tools())
        }
        "tools/call" => {
            seen.calls.fetch_add(1, Ordering::SeqCst);
            match message["params"]["name"].as_str().unwrap() {
                "golden" => send(GOLDEN),
                "hang" => {
                    out.closed().await;
                    seen.closed.fetch_add(1, Ordering::SeqCst);
                }
                "change" => {
                    seen.tell(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                    send(r#"{"content":[]}"#);
                }
                "progress" => {
                    let token = &message["params"]["_meta"]["progressToken"];
                    let steps = if seen.is("slow-progress") { 20 } else { 1 };
                    for step in 1..=steps {
                        seen.slow("slow-progress").await;
                        drop(out.send(json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":step}}).to_string()));
                    }
                    send(r#"{"content":[]}"#);
                }
                "ask" => {
                    let (sender, mut answers) = mpsc::unbounded_channel();
                    *seen.answers.lock().unwrap() = Some(sender);
                    drop(out.send(json!({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{}}}).to_string()));
                    let answer = answers.recv().await.unwrap();
                    send(&json!({"content": [], "structuredContent": answer["result"]}).to_string());
                }
                _ => send(&json!({"content": [], "structuredContent": message["params"]}).to_string()),
            }
        }
        _ if id.is_null() => {}
        _ => drop(out.send(
            json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"unknown method"}}).to_string(),
        )),
    }
}

/// Answers of a modern server.
async fn modern(seen: &Arc<Seen>, message: Value) -> Reply {
    let id = message["id"].clone();
    let send = |result: &str| {
        whole(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    };
    match message["method"].as_str().unwrap_or_default() {
        "server/discover" => send(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"public"}"#,
        ),
        "tools/list" => {
            seen.lists.fetch_add(1, Ordering::SeqCst);
            let ttl = if seen.is("short-lived") { r#","ttlMs":120000}"# } else { "}" };
            send(&format!("{}{ttl}", tools().strip_suffix('}').unwrap()))
        }
        "subscriptions/listen" => {
            let (sender, response) = stream();
            drop(
                sender.send(
                    json!({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}})
                        .to_string(),
                ),
            );
            seen.streams.lock().unwrap().push(sender);
            response
        }
        "tools/call" => {
            seen.calls.fetch_add(1, Ordering::SeqCst);
            match message["params"]["name"].as_str().unwrap() {
                "golden" => send(GOLDEN),
                "hang" | "change" | "progress" => {
                    let (sender, response) = stream();
                    let seen = seen.clone();
                    Tasks::new().spawn(async move { legacy(&seen, &message, &sender).await });
                    response
                }
                "echo" if message["params"]["arguments"]["b"] == "talkative task" => talkative_task(&id),
                _ => send(
                    &json!({"resultType": "complete", "content": [], "structuredContent": message["params"]})
                        .to_string(),
                ),
            }
        }
        "tasks/cancel" => {
            seen.cancelled.fetch_add(1, Ordering::SeqCst);
            send(r#"{"resultType":"complete"}"#)
        }
        _ => json_body(
            404,
            &json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"unknown method"}}),
        ),
    }
}

/// More words than may wait for who reads none, and then a task.
fn talkative_task(id: &Value) -> Reply {
    let word = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let task = json!({"resultType": "task", "taskId": "t-1", "status": "working", "ttlMs": 60000});
    let result = json!({"jsonrpc": "2.0", "id": id, "result": task});
    let words = format!("data: {word}\n\n").repeat(40);
    whole(200, "text/event-stream", format!("{words}data: {result}\n\n"))
}

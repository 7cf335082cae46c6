//! A small MCP server of either era on standard input and output: this very binary, started again.
//!
//! The harness writes to standard output by itself, so the server's own goes to file descriptor 3 and the harness's to
//! nowhere. What the server does wrong is chosen by the variable `FAKE_BEHAVIOUR`, or by a file `behaviour` in its place.

#![expect(clippy::disallowed_methods, reason = "it is a program of its own, and reads its environment")]

mod asking;
mod jobs;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

/// What it answers to the tool `golden`, in these bytes: unknown fields and types at every level.
pub(crate) const GOLDEN: &str = r#"{ "content":[{"type":"hologram","depth":1.00,"é":"\u00e9","_meta":{"v":1e400}},
  {"type":"text","text":"a\/b","annotations":{"audience":["system"],"x":[]}}],"structuredContent":{"n":123456789012345678901234567890,"f":0.10},
  "isError":false,"vendor/x":{"b":2,"a":1},"_meta":{"z":null, "y":-0.0}}"#;

/// The definition of the tool `golden`, in these bytes.
pub(crate) const GOLDEN_TOOL: &str = r#"{"name":"golden","x-first":[1.00,{"deep":{"er":1e2}}],"description":"G\u006fld","inputSchema":{"type":"object","properties":{},"x-vendor":{"k":1.50}},"outputSchema":{"anyOf":[true]},"annotations":{"readOnlyHint":true,"mood":"good"},"icons":[{"src":"data:,x","theme":"odd"}],"execution":{"taskSupport":"optional"},"_meta":{"a/b":[null]}}"#;

/// How many tools it has.
pub(crate) const TOOLS: usize = 25;

/// Not a test: the server, when it is started as one.
#[test]
fn server() {
    let Ok(behaviour) = std::env::var("FAKE_BEHAVIOUR") else { return };
    Fake::new(&behaviour).run();
}

struct Fake {
    behaviour: String,
    out: File,
    /// A place that outlives the process.
    place: PathBuf,
    legacy: bool,
    modern: bool,
    next_ask: u64,
    level: Value,
    client: Value,
    /// The tasks, with what they were called with and how often someone looked.
    jobs: HashMap<String, (Value, usize)>,
}

impl Fake {
    fn new(behaviour: &str) -> Self {
        let out = File::options().write(true).open("/proc/self/fd/3").unwrap();
        let place = PathBuf::from(std::env::var("FAKE_PLACE").unwrap_or_default());
        let exchanged = std::fs::read_to_string(place.join("behaviour"));
        let behaviour = exchanged.unwrap_or_else(|_| behaviour.to_owned());
        let has = |word: &str| behaviour.split(' ').any(|other| other == word);
        let (legacy, modern) = (!has("modern"), has("modern") || has("both"));
        Self {
            behaviour,
            out,
            place,
            legacy,
            modern,
            next_ask: 1,
            level: Value::Null,
            client: Value::Null,
            jobs: HashMap::new(),
        }
    }

    fn is(&self, word: &str) -> bool {
        self.behaviour.split(' ').any(|other| other == word)
    }

    fn send(&mut self, text: &str) {
        let line = format!("{}\n", text.replace('\n', " "));
        self.out.write_all(line.as_bytes()).unwrap();
    }

    fn result(&mut self, id: &Value, result: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    fn error(&mut self, id: &Value, code: i32, message: &str) {
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "x-more": 1.5}})
                .to_string(),
        );
    }

    /// Counts how many times something happened, over all processes in one place.
    fn count(&self, what: &str) -> usize {
        let path = self.place.join(what);
        let mut file = File::options().append(true).create(true).open(&path).unwrap();
        file.write_all(b".").unwrap();
        std::fs::read(&path).unwrap().len()
    }

    fn mark(&self, what: &str) {
        self.count(what);
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).unwrap() == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    fn run(&mut self) {
        self.count("started");
        eprintln!("fake server is up");
        if self.is("noisy") {
            self.send("Welcome to the fake server!");
        }
        if self.is("dies") {
            std::process::exit(3);
        }
        if self.is("slow-start") {
            std::thread::sleep(Duration::from_millis(300));
        }
        while self.is("held") && !self.place.join("go").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        while let Some(message) = self.read() {
            self.take(&message);
        }
        if self.is("lingers") {
            std::thread::sleep(Duration::from_secs(600));
        }
    }

    fn take(&mut self, message: &Value) {
        let (id, params) = (message["id"].clone(), message["params"].clone());
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.is("exits-on-probe") => std::process::exit(7),
            "server/discover" if self.is("dies-twice") && self.count("died") <= 2 => std::process::exit(7),
            "server/discover" if self.is("dies-thrice") && self.count("died") <= 3 => std::process::exit(7),
            "server/discover" if self.is("silent-on-probe") => self.mark("probed"),
            "initialize" if self.is("exits-on-handshake") => std::process::exit(7),
            "server/discover" if self.modern => self.result(
                &id,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"extensions":{"io.modelcontextprotocol/ui":{"x":1.0},"io.modelcontextprotocol/tasks":{},"odd name":{}},"experimental":{"com.example/odd":{}}},"instructions":"Be kind.","ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}}"#,
            ),
            "initialize" if self.legacy => {
                self.client = params["capabilities"].clone();
                self.result(
                    &id,
                    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"extensions":{"io.modelcontextprotocol/ui":{"x":1.0},"io.modelcontextprotocol/tasks":{},"odd name":{}},"experimental":{"com.example/odd":{}},"logging":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"fake","version":"1"},"instructions":"Be kind."}"#,
                );
            }
            "notifications/initialized" if self.is("asks-roots") => {
                self.send(r#"{"jsonrpc":"2.0","id":"early","method":"roots/list"}"#);
            }
            "logging/setLevel" if self.is("ignores-level") => self.mark("level"),
            "logging/setLevel" => {
                self.level = params["level"].clone();
                self.result(&id, "{}");
            }
            "subscriptions/listen" => self.listen(&id, &params),
            list if list.ends_with("/list") && self.fails_to(list, &id) => {}
            "tools/list" => self.tools(&id, &params),
            "resources/list" => self.result(&id, r#"{"resources":[{"uri":"fake://one","name":"one","x":1.0}]}"#),
            "resources/templates/list" => {
                self.result(&id, r#"{"resourceTemplates":[{"uriTemplate":"fake://t/{id}","name":"t"}]}"#);
            }
            "prompts/list" => self.result(&id, r#"{"prompts":[{"name":"greet","x":[1.0]}]}"#),
            "prompts/get" => {
                let text = json!({"messages": [], "asked": params});
                self.result(&id, &text.to_string());
            }
            "completion/complete" => {
                let text = json!({"completion": {"values": [params["ref"]["name"]]}});
                self.result(&id, &text.to_string());
            }
            "resources/read" if params["uri"] == "fake://t/none" => {
                self.error(&id, if self.modern { -32602 } else { -32002 }, "no such resource");
            }
            "resources/read" if params["uri"] == "fake://t/hang" => self.mark("hung"),
            "resources/read" => {
                let text = json!({"contents": [], "asked": params});
                self.result(&id, &text.to_string());
            }
            "resources/subscribe" | "resources/unsubscribe" => self.watch(message),
            "tools/call" => self.call(&id, &params),
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => self.job(message),
            "notifications/cancelled" => self.mark("cancelled"),
            "notifications/roots/list_changed" => self.mark("roots"),
            "odd/echo" => self.result(&id, &json!({"asked": params}).to_string()),
            _ if id.is_null() => {}
            _ => self.error(&id, -32601, "unknown method"),
        }
    }

    /// Whether it does not say what is on a list, and does something else instead.
    fn fails_to(&mut self, list: &str, id: &Value) -> bool {
        let name = list.replace('/', "-");
        let ways = ["unknown", "failing", "exits-on", "hanging"];
        let way = ways.into_iter().find(|way| self.is(&format!("{way}-{name}")));
        let Some(way) = way.filter(|_| !self.place.join("well").exists()) else { return false };
        self.mark(&name);
        match way {
            "unknown" => self.error(id, -32601, "unknown method"),
            "failing" => self.error(id, -32603, "the backend is down"),
            "exits-on" => std::process::exit(7),
            _ => {}
        }
        true
    }

    /// Agrees to tell of a resource, and at once has something to tell of it; or to tell no more.
    fn watch(&mut self, message: &Value) {
        if self.is("refuses-first") && self.count("asked-to-watch") == 1 {
            while !self.place.join("go").exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            return self.error(&message["id"], -32099, "not yet");
        }
        if self.is("forgets") && self.place.join("forgotten").exists() {
            self.mark("refused");
            return self.error(&message["id"], -32002, "no such resource");
        }
        self.result(&message["id"], "{}");
        if message["method"] == "resources/unsubscribe" {
            return self.mark("unsubscribed");
        }
        self.mark("subscribed");
        if self.is("tells-nothing") {
            return;
        }
        let notice = json!({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":message["params"]["uri"]}});
        self.send(&notice.to_string());
    }

    /// Agrees to be listened to, and at once has something to tell of all that is watched.
    fn listen(&mut self, id: &Value, params: &Value) {
        let watched = params["notifications"]["resourceSubscriptions"].as_array().map_or(0, Vec::len);
        if self.is("refuses-to-listen") && !self.place.join("well").exists() {
            self.mark("refused-to-listen");
            return self.error(id, -32099, "not yet");
        }
        if self.is("slow-to-agree") {
            self.mark(&format!("asked-for-{watched}"));
            while watched > 1 && !self.place.join("go").exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let about = json!({"io.modelcontextprotocol/subscriptionId": id});
        let notice = json!({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":about,"notifications":params["notifications"]}});
        self.send(&notice.to_string());
        self.mark(&format!("watches-{watched}"));
        if self.is("tells-nothing") {
            return;
        }
        for uri in params["notifications"]["resourceSubscriptions"].as_array().into_iter().flatten() {
            let notice = json!({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":uri,"_meta":about}});
            self.send(&notice.to_string());
        }
    }

    fn tools(&mut self, id: &Value, params: &Value) {
        self.mark("asked-tools");
        if self.is("endless-list") {
            let page = params["cursor"].as_str().map_or(0, |cursor| cursor.parse::<usize>().unwrap());
            return self.result(id, &format!(r#"{{"tools":[],"nextCursor":"{}"}}"#, (page + 1) % 3));
        }
        if params["cursor"].is_null() {
            let tools = format!(r#"{{"tools":[{GOLDEN_TOOL}],"nextCursor":"more"}}"#);
            return self.result(id, &tools);
        }
        let mut tools: Vec<Value> = [
            "echo", "ask", "sample", "progress", "hang", "crash", "big", "garbage", "wrong_id", "twice", "environment",
            "fail", "log", "flood", "deep", "grandchild", "input", "change", "question", "visit", "client",
        ]
        .into_iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["b"]}}))
        .collect();
        tools.push(json!({"name": "fragile", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}));
        for support in ["required", "optional"] {
            tools.push(json!({"name": format!("job_{support}"), "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}}));
        }
        if self.is("doubled") {
            tools.push(json!({"name": "echo", "description": "another", "inputSchema": {"type": "object"}}));
        }
        if self.place.join("changed").exists() {
            tools.push(json!({"name": "late", "inputSchema": {"type": "object"}}));
        }
        self.result(id, &json!({"tools": tools, "resultType": "complete"}).to_string());
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]}).to_string();
        match params["name"].as_str().unwrap() {
            "golden" => self.result(id, GOLDEN),
            "echo" => self.result(id, &json!({"content": [], "resultType": if self.modern { "complete" } else { "odd" }, "structuredContent": params}).to_string()),
            "job_required" | "job_optional" => self.begin_job(id, params),
            "ask" => self.ask(id, params),
            "question" => self.question(id, params),
            "visit" => self.visit(id, params),
            "client" => self.tell_client(id, params),
            "sample" => {
                self.send(r#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#);
                let answer = self.answer();
                self.result(id, &text(&answer.to_string()));
            }
            "input" => self.input(id, params),
            "progress" => {
                let token = &params["_meta"]["progressToken"];
                self.mark("progressing");
                for step in 1..=3 {
                    let word = self.place.join(format!("go-{step}"));
                    // A slow one says how far it is when it is told to.
                    while params["arguments"]["b"] == "slow" && !word.exists() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    let notice = json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":step,"x":"y"}});
                    self.send(&notice.to_string());
                }
                self.result(id, &text("done"));
            }
            "log" => self.log(id, params),
            "hang" => {
                if params["arguments"]["b"] == "after a word" {
                    self.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"x"}}"#);
                }
                self.mark("hung");
            }
            "crash" => {
                self.count("crashed");
                std::process::exit(9)
            }
            "fragile" if self.count("fragile") == 1 => std::process::exit(9),
            "fragile" => self.result(id, &text("survived")),
            "fail" => self.error(id, -32099, "no luck"),
            "environment" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                self.result(id, &text(&names.join(" ")));
            }
            "grandchild" => {
                let mut child = std::process::Command::new("/bin/sleep").arg("600").spawn().unwrap();
                self.result(id, &text(&child.id().to_string()));
                std::thread::spawn(move || child.wait().unwrap());
            }
            "change" => {
                self.count("changed");
                self.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                self.result(id, &text("changed"));
            }
            _ => self.misbehave(id, params),
        }
    }

    /// Says something during the call, or soon after it.
    fn log(&mut self, id: &Value, params: &Value) {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]}).to_string();
        let is_late = params["arguments"]["b"] == "later";
        if is_late {
            self.result(id, &text("soon"));
        }
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"l","data":{"n":1.00}}}"#);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/vendor/thing","params":{"n":1.00}}"#);
        if !is_late {
            let asked = &params["_meta"]["io.modelcontextprotocol/logLevel"];
            let level = if self.modern { asked } else { &self.level };
            self.result(id, &text(level.as_str().unwrap_or("none")));
        }
    }

    /// Answers what the client said it can do.
    fn tell_client(&mut self, id: &Value, params: &Value) {
        let meta = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let seen = if self.modern { meta } else { &self.client };
        let result = json!({"content": [], "structuredContent": seen});
        self.result(id, &result.to_string());
    }

    /// Tools that no server should have.
    fn misbehave(&mut self, id: &Value, params: &Value) {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]}).to_string();
        match params["name"].as_str().unwrap() {
            "big" => {
                let piece = "x".repeat(1024 * 1024);
                write!(
                    self.out,
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
                )
                .unwrap();
                for _ in 0..17 {
                    self.out.write_all(piece.as_bytes()).unwrap();
                }
                self.send(r#""}]}}"#);
            }
            "garbage" => {
                self.send("{\"jsonrpc\": nonsense");
                self.send("[]");
                self.send("null");
                self.result(id, &text("after garbage"));
            }
            "wrong_id" => {
                self.result(&json!("nobody"), "{}");
                self.result(&json!(99_999), "{}");
                self.result(id, &text("after wrong ids"));
            }
            "twice" => {
                self.result(id, &text("first"));
                self.result(id, &text("second"));
            }
            "deep" => {
                let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
                self.result(id, &format!(r#"{{"content":{deep}}}"#));
            }
            // Of many resources that nobody watches, and of one that may be.
            "flood" if params["arguments"]["b"] == "updates" => {
                for step in 0..1000 {
                    for uri in [format!("fake://t/{step}"), "fake://one".into()] {
                        self.send(&json!({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":uri}}).to_string());
                    }
                }
                self.result(id, &text("after the flood"));
            }
            "flood" => {
                let token = &params["_meta"]["progressToken"];
                for step in 0..20_000 {
                    self.send(&json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":step}}).to_string());
                }
                self.result(id, &text("after the flood"));
            }
            other => self.error(id, -32602, &format!("unknown tool {other}")),
        }
    }

    /// Asks the legacy way, in the middle of the call.
    fn ask(&mut self, id: &Value, params: &Value) {
        let ask = self.next_ask;
        self.next_ask += 1;
        let message = json!({"jsonrpc":"2.0","id":format!("q{ask}"),"method":"elicitation/create","params":{"message":params["arguments"]["b"],"requestedSchema":{"type":"object","properties":{}}}});
        self.send(&message.to_string());
        let answer = self.answer();
        let answer =
            if answer["result"].is_null() { answer["error"].clone() } else { answer["result"].clone() };
        if answer["action"] == "cancel" {
            self.mark("nobody-answers");
        }
        self.result(id, &json!({"content": [], "structuredContent": answer}).to_string());
    }

    /// The answer to what was asked; what comes before it is taken care of.
    fn answer(&mut self) -> Value {
        loop {
            let message = self.read().unwrap();
            if message["method"].is_null() {
                return message;
            }
            self.take(&message);
        }
    }

    /// Asks the modern way, by a result.
    fn input(&mut self, id: &Value, params: &Value) {
        if params["requestState"] == "kept" {
            return self.result(
                id,
                &json!({"resultType":"complete","content":[],"structuredContent":params["inputResponses"]})
                    .to_string(),
            );
        }
        self.result(id, r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"kept"}"#);
    }
}

//! A small server of both eras, right in all it does but for what it is told to do wrong: the name of a rule.

use serde_json::{Value, json};

use crate::definitions;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(crate) struct Server {
    behaviour: String,
    /// What the handshake granted.
    granted: String,
    lists: usize,
    asked: bool,
    /// Whether it just told somebody to ask again.
    refused: bool,
}

impl Server {
    pub(crate) fn new(behaviour: &str) -> Self {
        Self {
            behaviour: behaviour.to_owned(),
            granted: String::new(),
            lists: 0,
            asked: false,
            refused: false,
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        self.behaviour.split(' ').any(|other| other == word)
    }

    /// An error to what cannot be read.
    pub(crate) fn refusal(code: i64, message: &str) -> String {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}}).to_string()
    }

    /// Answers a message, or an array of them.
    pub(crate) fn take(&mut self, message: &Value) -> Vec<String> {
        let Some(batch) = message.as_array() else { return self.one(message) };
        if self.is("batch") {
            return Vec::new();
        }
        if self.granted != "2025-03-26" {
            return vec![Self::refusal(-32600, "no batches here")];
        }
        let answers: Vec<String> = batch.iter().flat_map(|message| self.one(message)).collect();
        vec![format!("[{}]", answers.join(","))]
    }

    fn one(&mut self, message: &Value) -> Vec<String> {
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        let Some(id) = message.get("id") else {
            let knows = method == "notifications/initialized" || method == "notifications/cancelled";
            let answers = self.is("notification-unanswered") && !knows;
            return if answers { vec![Self::refusal(-32601, "what is that?")] } else { Vec::new() };
        };
        if method.is_empty() {
            return Vec::new();
        }
        let modern = params["_meta"][VERSION].is_string();
        let outcome = match self.busy(method) {
            Some(error) => Err(error),
            None => self.outcome(method, params, modern),
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": self.id(id)});
        match outcome {
            Ok(mut result) => {
                if modern {
                    complete(&mut result, method, self.is("message-schema"));
                }
                answer["result"] = result;
            }
            Err((code, message, data)) => {
                answer["error"] = json!({"code": code, "message": message});
                if !data.is_null() {
                    answer["error"]["data"] = data;
                }
            }
        }
        let mut out = self.aside(method, id);
        if method == "subscriptions/listen" && !self.is("listen") && !out.is_empty() {
            return out;
        }
        if method == "tools/list" && self.is("json-rpc") {
            out.push(answer.to_string().replacen('{', "{\"jsonrpc\":\"2.0\",", 1));
        } else {
            out.push(answer.to_string());
        }
        if method == "tools/list" && self.is("one-answer") {
            out.push(answer.to_string());
        }
        out
    }

    /// What it says to every second request that may be asked too often, if it is busy.
    fn busy(&mut self, method: &str) -> Option<(i64, String, Value)> {
        if !self.is("busy") || ["initialize", "server/discover", "ping"].contains(&method) {
            return None;
        }
        self.refused = !self.refused;
        self.refused.then(|| (-32000, "not so fast".into(), json!({"retryAfterMs": 1})))
    }

    fn id(&self, id: &Value) -> Value {
        let number = id.as_str().and_then(|text| text.parse::<u64>().ok());
        number.filter(|_| self.is("same-id")).map_or_else(|| id.clone(), |number| json!(number))
    }

    /// What it says besides the answer.
    fn aside(&mut self, method: &str, id: &Value) -> Vec<String> {
        if self.refused {
            return Vec::new();
        }
        if method == "subscriptions/listen" && !self.is("listen") {
            let params = json!({
                "notifications": {"toolsListChanged": true},
                "_meta": {"io.modelcontextprotocol/subscriptionId": id},
            });
            let acknowledged = "notifications/subscriptions/acknowledged";
            return vec![json!({"jsonrpc": "2.0", "method": acknowledged, "params": params}).to_string()];
        }
        if method != "tools/list" || self.asked {
            return Vec::new();
        }
        self.asked = true;
        if self.is("list-changed-declared") {
            let changed = "notifications/prompts/list_changed";
            return vec![json!({"jsonrpc": "2.0", "method": changed}).to_string()];
        }
        if self.is("asks-what-is-declared") {
            return vec![json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}).to_string()];
        }
        Vec::new()
    }

    fn outcome(&mut self, method: &str, params: &Value, modern: bool) -> Result<Value, (i64, String, Value)> {
        let error = |code: i64, message: &str| Err((code, message.to_owned(), Value::Null));
        if modern && params["_meta"][VERSION] != "2026-07-28" && !self.is("unknown-version") {
            let requested = &params["_meta"][VERSION];
            let data = json!({"supported": ["2026-07-28"], "requested": requested});
            return Err((-32022, "no such version".into(), data));
        }
        match method {
            "initialize" | "server/discover" if self.is("opens") => error(-32603, "not today"),
            "initialize" if !modern && !self.is("only-modern") => Ok(self.initialize(params)),
            "server/discover" if modern && !self.is("only-legacy") => Ok(self.discover()),
            "ping" if !modern && !self.is("ping") => Ok(json!({})),
            "tools/list" => self.tools(params),
            "tools/call" => self.call(params),
            "prompts/list" if self.is("capabilities-answered") => error(-32603, "no prompts"),
            "prompts/list" => Ok(json!({"prompts": definitions::prompts(&self.behaviour)})),
            "resources/list" => Ok(json!({"resources": [{"uri": "note://a", "name": "a"}]})),
            "resources/templates/list" => {
                Ok(json!({"resourceTemplates": [{"uriTemplate": "note://{name}", "name": "note"}]}))
            }
            "subscriptions/listen" if modern && !self.is("listen") => Ok(json!({})),
            _ if self.is("unknown-method") && method.starts_with("toolgate/") => Ok(json!({})),
            _ => error(-32601, "no such method"),
        }
    }

    fn capabilities(&self) -> Value {
        let mut all = json!({"tools": {"listChanged": true}, "prompts": {}, "resources": {}});
        if self.is("capabilities-declared") {
            all["resources"].take();
            all.as_object_mut().unwrap().remove("resources");
        }
        all
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let known = LEGACY.contains(&wanted) || self.is("unknown-version");
        self.granted = if known { wanted } else { "2025-11-25" }.to_owned();
        let mut info = json!({"name": "small", "version": "1"});
        if self.is("message-schema") {
            info = json!({"name": "small"});
        }
        json!({"protocolVersion": self.granted, "capabilities": self.capabilities(), "serverInfo": info})
    }

    fn discover(&self) -> Value {
        let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "small", "version": "1"}});
        json!({"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities(), "_meta": info})
    }

    /// Tools on two pages.
    fn tools(&mut self, params: &Value) -> Result<Value, (i64, String, Value)> {
        self.lists += 1;
        let mut tools = definitions::tools(&self.behaviour);
        if self.is("stable-order") && self.lists > 3 {
            tools.reverse();
        }
        let rest = tools.split_off(1);
        match params["cursor"].as_str() {
            None => Ok(json!({"tools": tools, "nextCursor": "two"})),
            Some("two") if self.is("pages-end") => Ok(json!({"tools": rest, "nextCursor": "two"})),
            Some("two") if self.is("pages-unique") => {
                tools.extend(rest);
                Ok(json!({"tools": tools}))
            }
            Some("two") => Ok(json!({"tools": rest})),
            Some(_) if self.is("bad-cursor") => Ok(json!({"tools": []})),
            Some(_) => Err((-32602, "no such cursor".into(), Value::Null)),
        }
    }

    fn call(&self, params: &Value) -> Result<Value, (i64, String, Value)> {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        match params["name"].as_str().unwrap_or_default() {
            "read_note" if params["arguments"]["name"].is_null() && !self.is("checks-arguments") => {
                let content = if self.is("is-error-shape") { json!([]) } else { text("`name` is missing") };
                Ok(json!({"content": content, "isError": true}))
            }
            "read_note" => Ok(json!({"content": text("a note")})),
            "list_notes" if self.is("structured-content") => Ok(json!({"content": text("a")})),
            "list_notes" => Ok(json!({"content": text("a"), "structuredContent": {"items": ["a"]}})),
            _ if self.is("unknown-tool") => Ok(json!({"content": text("done")})),
            _ if self.is("unknown-tool-code") => Err((-32603, "what?".into(), Value::Null)),
            _ => Err((-32602, "no such tool".into(), Value::Null)),
        }
    }
}

/// Adds what every modern result has.
fn complete(result: &mut Value, method: &str, wrong: bool) {
    result["resultType"] = json!("complete");
    if method.ends_with("list") || method == "server/discover" {
        result["cacheScope"] = json!("private");
        if !(wrong && method == "tools/list") {
            result["ttlMs"] = json!(0);
        }
    }
}

//! Tools that ask, the legacy way and the modern way. What is asked is the argument `b`.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::Fake;

impl Fake {
    /// Asks, and answers with what it was told.
    pub(super) fn question(&mut self, id: &Value, params: &Value) {
        let kind = params["arguments"]["b"].as_str().unwrap();
        let (method, asked) = match kind {
            "form" => (
                "elicitation/create",
                json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "x": 1}),
            ),
            "url" if self.modern => {
                ("elicitation/create", json!({"mode": "url", "message": "Go", "url": "https://a.test/x"}))
            }
            "url" | "url later" => (
                "elicitation/create",
                json!({"mode": "url", "message": "Go", "url": "https://a.test/x", "elicitationId": "e-1"}),
            ),
            "sample" => (
                "sampling/createMessage",
                json!({"messages": [], "maxTokens": 1, "tools": [{"name": "t", "inputSchema": {"type": "object"}}], "toolChoice": {"mode": "auto"}}),
            ),
            _ => ("roots/list", json!({})),
        };
        if self.modern {
            let given = &params["inputResponses"]["key"];
            if !given.is_null() {
                let result = json!({"resultType": "complete", "content": [], "structuredContent": given});
                return self.result(id, &result.to_string());
            }
            let result = json!({"resultType": "input_required", "inputRequests": {"key": {"method": method, "params": asked}}});
            return self.result(id, &result.to_string());
        }
        let ask = json!({"jsonrpc": "2.0", "id": format!("q-{id}"), "method": method, "params": asked});
        self.send(&ask.to_string());
        let answer = self.answer();
        if kind == "url" {
            self.send(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e-1","x":1.00}}"#);
            self.send(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"another"}}"#);
        }
        let told = if answer["result"].is_null() { &answer["error"] } else { &answer["result"] };
        self.result(id, &json!({"content": [], "structuredContent": told}).to_string());
        if kind == "url later" {
            for _ in 0..2 {
                self.send(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e-1","x":1.00}}"#);
            }
        }
    }

    /// Answers only after a person has been elsewhere, which takes a moment.
    pub(super) fn visit(&mut self, id: &Value) {
        if self.count("visit") > 1 {
            return self.result(id, r#"{"content":[{"type":"text","text":"welcome back"}]}"#);
        }
        let page = json!({"mode": "url", "elicitationId": "v-1", "url": "https://a.test/v", "message": "Go there", "x": 1.5});
        let error = json!({"code": -32042, "message": "go there first", "data": {"elicitations": [page]}, "x-more": 1.5});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
        let mut out = self.out.try_clone().unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            let told = r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"v-1"}}"#;
            // It says so twice, as no server should.
            writeln!(out, "{told}\n{told}").unwrap();
        });
    }
}

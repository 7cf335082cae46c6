//! Tools that ask, the legacy way and the modern way. What is asked is the argument `b`.

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

    /// Answers only after a person has been elsewhere. That they have is said twice, as no server should: at once, before
    /// they are even sent there, or when the test has seen that they were.
    pub(super) fn visit(&mut self, id: &Value, params: &Value) {
        if self.count("visit") > 1 {
            return self.result(id, r#"{"content":[{"type":"text","text":"welcome back"}]}"#);
        }
        let page = json!({"mode": "url", "elicitationId": "v-1", "url": "https://a.test/v", "message": "Go there", "x": 1.5});
        let error = json!({"code": -32042, "message": "go there first", "data": {"elicitations": [page]}, "x-more": 1.5});
        let error = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        let told = r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"v-1"}}"#;
        let when = params["arguments"]["b"].as_str().unwrap();
        let words = if when == "before" { [told, told, &error] } else { [&error, told, told] };
        if when != "seen" {
            return words.into_iter().for_each(|word| self.send(word));
        }
        self.send(&error);
        while !self.place.join("go").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.send(told);
        self.send(told);
    }
}

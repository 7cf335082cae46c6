//! Tools that run as tasks, the legacy and the modern way. What becomes of one is its argument `b`.

use serde_json::{Value, json};

use super::Fake;

const RELATED: &str = "io.modelcontextprotocol/related-task";

impl Fake {
    pub(super) fn begin_job(&mut self, id: &Value, params: &Value) {
        let plain = json!({"content": [{"type": "text", "text": "without a task"}]});
        let knows = if self.modern {
            !params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_null()
        } else {
            !params["task"].is_null()
        };
        if !knows && params["name"] == "job_required" {
            return self.error(id, if self.modern { -32021 } else { -32601 }, "a task is required");
        }
        if !knows {
            return self.result(id, &plain.to_string());
        }
        self.mark("jobs");
        if params["arguments"]["b"] == "slow" {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        let job = format!("job-{}", self.jobs.len() + 1);
        self.jobs.insert(job.clone(), (params.clone(), 0));
        let created = self.state(&job, "working");
        let created =
            if self.modern { with(&created, "resultType", json!("task")) } else { json!({"task": created}) };
        self.result(id, &created.to_string());
    }

    fn state(&self, job: &str, status: &str) -> Value {
        let (ttl, interval) = if self.modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        json!({"taskId": job, "status": status, "statusMessage": "half way", "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", ttl: 60_000, interval: 20})
    }

    pub(super) fn job(&mut self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        let job = params["taskId"].as_str().unwrap().to_owned();
        let Some((asked, looks)) = self.jobs.get_mut(&job) else {
            return self.error(id, -32602, "unknown task");
        };
        let (fate, asked) = (asked["arguments"]["b"].as_str().unwrap_or_default().to_owned(), asked.clone());
        match message["method"].as_str().unwrap() {
            "tasks/get" => {
                *looks += 1;
                let looks = *looks;
                self.look(id, &job, &fate, looks);
            }
            "tasks/result" => self.end(id, &job, &fate, &asked),
            "tasks/update" => {
                self.jobs.insert(
                    job,
                    (json!({"arguments": {"b": "answered"}, "answers": params["inputResponses"]}), 1),
                );
                self.result(id, r#"{"resultType":"complete"}"#);
            }
            _ => {
                self.mark("job-cancelled");
                let state = self.state(&job, "cancelled");
                self.result(id, &state.to_string());
            }
        }
    }

    fn look(&mut self, id: &Value, job: &str, fate: &str, looks: usize) {
        let done =
            json!({"content": [{"type": "text", "text": fate}], "answers": self.jobs[job].0["answers"]});
        let state = match fate {
            _ if looks == 1 => self.state(job, "working"),
            "hang" => self.state(job, "working"),
            "vanish" => return self.error(id, -32602, "unknown task"),
            "cancel" => self.state(job, "cancelled"),
            "ask" if self.modern => {
                let ask = json!({"who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}});
                with(&self.state(job, "input_required"), "inputRequests", ask)
            }
            "ask" => self.state(job, "input_required"),
            "fail" if self.modern => with(
                &self.state(job, "failed"),
                "error",
                json!({"code": -32099, "message": "no luck", "x-more": 1.5}),
            ),
            "fail" => self.state(job, "failed"),
            _ if self.modern => with(&self.state(job, "completed"), "result", done),
            _ => self.state(job, "completed"),
        };
        self.result(id, &with(&state, "resultType", json!("complete")).to_string());
    }

    /// The result of a legacy task, which may ask first.
    fn end(&mut self, id: &Value, job: &str, fate: &str, asked: &Value) {
        if fate == "fail" {
            return self.error(id, -32099, "no luck");
        }
        let mut answer = Value::Null;
        if fate == "ask" {
            let ask = json!({"jsonrpc": "2.0", "id": "job-asks", "method": "elicitation/create", "params": {
                "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": {RELATED: {"taskId": job}}}});
            self.send(&ask.to_string());
            answer = self.answer()["result"].clone();
        }
        let token = &asked["_meta"]["progressToken"];
        if !token.is_null() {
            self.send(&json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":7}}).to_string());
        }
        let result = json!({"content": [{"type": "text", "text": fate}], "answers": answer, "_meta": {RELATED: {"taskId": job}, "x": 1.0}});
        self.result(id, &result.to_string());
    }
}

fn with(object: &Value, key: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[key] = value;
    object
}

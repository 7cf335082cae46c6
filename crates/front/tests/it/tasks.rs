//! Tasks as 2025-11-25 has them, in bytes: over standard input and output, and over HTTP.

pub(crate) mod http;

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Hub, Outcome, Progress, Question, TaskMode, ToolItem};
use toolgate_testkit::{FakeSource, hub, text, tool_item};
use toolgate_wire::Raw;

use crate::scene::runtime;
use crate::schema::check_schema;
use crate::talk::Talk;

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A hub with a tool that asks, one that never ends, one that ends at once, and one that is never a task.
fn scene() -> Hub {
    let form = r#"{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#;
    let source = FakeSource::new("a")
        .tool("ask", move |_, run| async move {
            run.progress(Progress::new(1.0, None, Some("asking"))).await;
            let answers = run.ask(vec![Question::elicit("q", Raw::literal(form))]).await?;
            Ok(Outcome::Complete(text(answers.to_raw().as_str())))
        })
        .tool("hang", |_, _| async move { std::future::pending().await })
        .tool("soon", |_, _| async move { Ok(Outcome::Complete(text("done"))) })
        .tool_as(ToolItem { task: TaskMode::Never, ..tool_item("never") }, |_, _| async move {
            Ok(Outcome::Complete(text("never a task")))
        });
    hub([Arc::new(source)])
}

fn wanted(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}, "task": {"ttl": 60_000}})
}

fn on(task: &Value) -> Value {
    json!({"taskId": task["taskId"]})
}

#[test]
fn a_task_lives_from_its_call_to_its_result() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene()).await;
        let capabilities = talk.greet("2025-11-25").await;
        assert_eq!(
            capabilities["tasks"],
            json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}})
        );
        let tools = talk.ask("tools/list", json!({})).await;
        let support = |name: &str| {
            let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name);
            tool.unwrap()["execution"]["taskSupport"].clone()
        };
        assert_eq!((support("ask"), support("never")), (json!("optional"), Value::Null));

        let task = talk.ask("tools/call", wanted("ask")).await["task"].clone();
        assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)));
        check_schema("CreateTaskResult", &json!({"task": task}));
        let told =
            talk.told("notifications/tasks/status", |params| params["status"] == "input_required").await;
        assert_eq!((&told["taskId"], &told["statusMessage"]), (&task["taskId"], &json!("asking")));
        let state = talk.ask("tasks/get", on(&task)).await;
        assert_eq!(state["status"], "input_required");
        check_schema("GetTaskResult", &state);
        let listed = talk.ask("tasks/list", json!({})).await;
        assert_eq!(listed["tasks"], json!([state]));
        check_schema("ListTasksResult", &listed);

        let waiting = talk.send("tasks/result", on(&task)).await;
        let question = talk.question().await;
        assert_eq!(question["params"]["_meta"][RELATED], on(&task));
        check_schema("ElicitRequest", &question);
        talk.answer(&question, json!({"action": "accept", "content": {}})).await;
        let result = talk.result(&waiting).await;
        assert_eq!(result["content"][0]["text"], r#"{"q":{"action":"accept","content":{}}}"#);
        assert_eq!(result["_meta"][RELATED], on(&task));
        check_schema("CallToolResult", &result);
        assert_eq!(talk.ask("tasks/result", on(&task)).await, result, "it can be fetched again");
        talk.told("notifications/tasks/status", |params| params["status"] == "completed").await;
        let late = talk.refused("tasks/cancel", on(&task)).await;
        assert_eq!(late["code"], -32602);
        talk.end().await;
    });
}

#[test]
fn of_two_at_once_one_is_cancelled_in_the_middle() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene()).await;
        talk.greet("2025-11-25").await;
        let hanging = talk.ask("tools/call", wanted("hang")).await["task"].clone();
        let asking = talk.ask("tools/call", wanted("ask")).await["task"].clone();
        let waits =
            [talk.send("tasks/result", on(&hanging)).await, talk.send("tasks/result", on(&asking)).await];
        let question = talk.question().await;
        let cancelled = talk.ask("tasks/cancel", on(&hanging)).await;
        assert_eq!(cancelled["status"], "cancelled");
        check_schema("CancelTaskResult", &cancelled);
        let error = talk.error(&waits[0]).await;
        assert_eq!(error["message"], "the task was cancelled");
        // To give up waiting is not to give up the task.
        talk.notify("notifications/cancelled", json!({"requestId": waits[1]})).await;
        assert_eq!(talk.ask("tasks/get", on(&asking)).await["status"], "input_required");
        talk.answer(&question, json!({"action": "decline"})).await;
        let again = talk.send("tasks/result", on(&asking)).await;
        let question = talk.question().await;
        talk.answer(&question, json!({"action": "cancel"})).await;
        assert_eq!(talk.result(&again).await["content"][0]["text"], r#"{"q":{"action":"cancel"}}"#);
        talk.end().await;
    });
}

#[test]
fn what_is_wrong_is_said_by_an_error_and_begins_nothing() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene()).await;
        talk.greet("2025-11-25").await;
        for (method, params, code) in [
            ("tools/call", json!({"name": "never", "task": {}}), -32601),
            ("tools/call", json!({"name": "nowhere", "task": {}}), -32602),
            ("tools/call", json!({"name": "soon", "task": 5}), -32602),
            ("tools/call", json!({"name": "soon", "task": {"ttl": -1}}), -32602),
            ("tools/call", json!({"name": "soon", "task": {"ttl": "long"}}), -32602),
            ("tasks/get", json!({"taskId": "nobody's"}), -32602),
            ("tasks/get", json!({}), -32602),
            ("tasks/result", json!({"taskId": "nobody's"}), -32602),
            ("tasks/cancel", json!({"taskId": "nobody's"}), -32602),
            ("tasks/list", json!({"cursor": "odd"}), -32602),
            ("tasks/update", json!({"taskId": "nobody's", "inputResponses": {}}), -32601),
        ] {
            assert_eq!(talk.refused(method, params.clone()).await["code"], code, "{method} {params}");
        }
        assert_eq!(talk.ask("tasks/list", json!({})).await, json!({"tasks": []}));
        talk.end().await;
    });
}

#[test]
fn a_revision_without_tasks_hears_nothing_of_them() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene()).await;
        assert_eq!(talk.greet("2025-06-18").await["tasks"], Value::Null);
        assert!(!talk.ask("tools/list", json!({})).await.to_string().contains("taskSupport"));
        let result = talk.ask("tools/call", wanted("soon")).await;
        assert_eq!(result["content"][0]["text"], "done", "it is a call like any other");
        for method in ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"] {
            assert_eq!(talk.refused(method, json!({"taskId": "x"})).await["code"], -32601, "{method}");
        }
        talk.end().await;
    });
}

#[test]
fn when_the_input_ends_who_waits_is_not_waited_for() {
    runtime().block_on(async {
        let mut talk = Talk::begin(scene()).await;
        talk.greet("2025-11-25").await;
        let task = talk.ask("tools/call", wanted("hang")).await["task"].clone();
        talk.send("tasks/result", on(&task)).await;
        talk.end().await;
    });
}

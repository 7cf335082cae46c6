//! The client under test: a hub with one upstream, of which everything is used. It is this very binary, started again.
//!
//! The suite says by variables what it tries, and the address of its server by the last argument.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolgate_core::{Answers, Call, Event, ListKind, Outcome, Principal, Question, Target};
use toolgate_testkit::{call, client_legacy};
use toolgate_wire::Raw;

use crate::rig::Rig;

/// Not a test: the client, when it is started as one.
#[test]
fn client() {
    let Ok(scenario) = std::env::var("MCP_CONFORMANCE_SCENARIO") else { return };
    let url = std::env::args().next_back().unwrap();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let context: Value = serde_json::from_str(&context).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(&scenario, &url, &context));
}

async fn run(_scenario: &str, url: &str, context: &Value) {
    let table = json!({"url": url, "prefix": false, "timeout": 10_000});
    let place = Arc::new(TempDir::new().unwrap());
    let rig = Rig::of(table, place, None);
    rig.settled().await;
    use_everything(&rig, context).await;
    rig.upstream.stop().await;
}

/// Calls every tool, reads every resource, gets every prompt.
async fn use_everything(rig: &Rig, context: &Value) {
    for tool in items(rig, ListKind::Tools, "tools").await {
        let name = tool["name"].as_str().unwrap();
        let said = context["toolCalls"].as_array().into_iter().flatten();
        let arguments = match said.into_iter().find(|call| call["name"] == name) {
            Some(call) => call["arguments"].clone(),
            None if name == "json_schema_echo" => json!({"schema": rich_schema(rig).await}),
            None => sample(&tool["inputSchema"]),
        };
        finish(rig, call(client_legacy(), name, arguments)).await;
    }
    for resource in items(rig, ListKind::Resources, "resources").await {
        let uri = resource["uri"].as_str().unwrap();
        send(rig, Target::Resource(uri.into()), json!({"uri": uri})).await;
    }
    for prompt in items(rig, ListKind::Prompts, "prompts").await {
        let name = prompt["name"].as_str().unwrap();
        send(rig, Target::Prompt(name.into()), json!({"name": name})).await;
    }
}

async fn items(rig: &Rig, kind: ListKind, key: &str) -> Vec<Value> {
    rig.list(kind).await.to::<Value>().unwrap()[key].as_array().unwrap().clone()
}

/// The schema that the suite wants to see again as it was.
async fn rich_schema(rig: &Rig) -> Value {
    let tools = items(rig, ListKind::Tools, "tools").await;
    tools.iter().find(|tool| tool["name"] == "json_schema_2020_12_tool").unwrap()["inputSchema"].clone()
}

async fn send(rig: &Rig, target: Target, params: Value) {
    finish(rig, Call::new(Principal::local(), client_legacy(), target, Raw::of(&params))).await;
}

/// Sees a call to its end, answering what is asked.
async fn finish(rig: &Rig, call: Call) {
    let name = call.target.name().to_owned();
    let mut run = rig.hub.start(call);
    while let Some(event) = run.next().await {
        match event {
            Event::Ask(ask) => {
                let mut answers = Answers::default();
                ask.questions.iter().for_each(|question| answers.insert(&question.key, answer(question)));
                ask.answer(Ok(answers));
            }
            Event::Done(Outcome::Complete(result)) => return println!("{name}: {}", result.as_str()),
            // Some tools are only there to be looked at.
            Event::Done(Outcome::Failed(error)) if error.as_forwarded().is_some() => {
                return println!("{name}: {error}");
            }
            Event::Done(outcome) => panic!("{name}: {outcome:?}; {:?}", rig.status()),
            Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
        }
    }
}

/// What a friendly person or model says.
fn answer(question: &Question) -> Raw {
    let params: Value = question.params.to().unwrap();
    Raw::of(&match question.method {
        "roots/list" => json!({"roots": []}),
        "sampling/createMessage" => {
            json!({"role": "assistant", "content": {"type": "text", "text": "Yes."}, "model": "m"})
        }
        _ => json!({"action": "accept", "content": sample(&params["requestedSchema"])}),
    })
}

/// A value that fits a schema: what it gives for a default, or the plainest.
fn sample(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!("text"),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            Value::Object(
                properties.map(|(key, schema)| (key.clone(), sample(schema))).collect::<Map<_, _>>(),
            )
        }
    }
}

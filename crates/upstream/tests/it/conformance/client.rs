//! The client under test: a hub with one upstream, of which everything is used. It is this very binary, started again.
//!
//! The suite says by variables what it tries, and the address of its server by the last argument.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolgate_core::{
    Answers, Call, Event, Kind, ListKind, Outcome, Principal, Question, SourceState, Target,
};
use toolgate_host::{Clock, Secret};
use toolgate_testkit::{builder, call, client_legacy};
use toolgate_upstream::{Authorizer, Holder, MemoryTokens, Plan, Upstream, UpstreamConfig};
use toolgate_wire::Raw;

use crate::rig::{Rig, surroundings};

/// How many times someone agrees to the same before they lose patience.
const TIMES: usize = 3;

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

async fn run(scenario: &str, url: &str, context: &Value) {
    let table = json!({"url": url, "prefix": false, "timeout": 60_000, "oauth": oauth(scenario, context)});
    let config: UpstreamConfig = serde_json::from_value(table).unwrap();
    let mut plan = Plan::new("suite", &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
    let surroundings = surroundings();
    let store = Arc::new(MemoryTokens::default());
    let authorizer = plan.authorize(store, &surroundings, Clock::system()).unwrap();
    let upstream = Arc::new(Upstream::start(plan, surroundings, None));
    let hub = builder([upstream.clone()]).build().unwrap();
    let place = Arc::new(TempDir::new().unwrap());
    let user = User { rig: Rig { hub, upstream, place }, authorizer };
    user.connected().await;
    user.use_everything(context).await;
    user.rig.upstream.stop().await;
}

/// How to sign in, as the suite says it.
fn oauth(scenario: &str, context: &Value) -> Value {
    let id = &context["client_id"];
    match scenario {
        "auth/basic-cimd" => json!({"client_id": "https://conformance-test.local/client-metadata.json"}),
        "auth/client-credentials-basic" => {
            json!({"client_id": id, "client_secret": context["client_secret"], "grant": "client_credentials"})
        }
        _ if id.is_string() => json!({"client_id": id, "client_secret": context["client_secret"]}),
        _ => json!(true),
    }
}

/// Someone who uses all that a server has, and signs in where that is asked for.
struct User {
    rig: Rig,
    authorizer: Arc<Authorizer>,
}

impl User {
    /// Waits until the server has said what it has, signing in where it wants to know who we are.
    async fn connected(&self) {
        for _ in 0..TIMES {
            self.rig.until("it is settled", |rig| rig.status().state != SourceState::Connecting).await;
            match self.rig.status().state {
                SourceState::Connected => return self.rig.settled().await,
                SourceState::NeedsAuth | SourceState::NeedsClientRegistration => self.sign_in().await,
                SourceState::Connecting | SourceState::Disabled | SourceState::Failed => {
                    panic!("{:?}", self.rig.status())
                }
            }
        }
        panic!("it cannot be satisfied: {:?}", self.rig.status());
    }

    /// Signs in as a person does whose browser agrees to everything.
    async fn sign_in(&self) {
        let login = self.authorizer.begin(Holder::Shared).await.unwrap();
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let answer = browser.get(login.url().clone()).send().await.unwrap();
        let back = answer.headers().get("location").expect("a way back").to_str().unwrap();
        login.finish(back).await.unwrap();
        let refused = |rig: &Rig| rig.status().state == SourceState::NeedsAuth;
        // It takes a moment until the new grant is tried.
        let limit = tokio::time::Instant::now() + Duration::from_secs(4);
        while refused(&self.rig) && tokio::time::Instant::now() < limit {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sees a call to its end; where more has to be allowed for it, that is agreed to.
    async fn finish(&self, call: impl Fn() -> Call) {
        for _ in 0..TIMES {
            match self.ended(call()).await {
                Outcome::Complete(result) => return println!("{}", result.as_str()),
                // Some tools are only there to be looked at.
                Outcome::Failed(error) if error.as_forwarded().is_some() => return println!("{error}"),
                Outcome::Failed(error) if error.kind() == Kind::Unauthorized => {
                    self.sign_in().await;
                    self.connected().await;
                }
                outcome @ (Outcome::Failed(_) | Outcome::InputRequired { .. } | Outcome::Task(_)) => {
                    panic!("{outcome:?}; {:?}", self.rig.status())
                }
            }
        }
        panic!("it is never allowed: {:?}", self.rig.status());
    }

    /// How a call ends whose questions are answered.
    async fn ended(&self, call: Call) -> Outcome {
        let mut run = self.rig.hub.start(call);
        while let Some(event) = run.next().await {
            match event {
                Event::Ask(ask) => {
                    let mut answers = Answers::default();
                    ask.questions.iter().for_each(|question| answers.insert(&question.key, answer(question)));
                    ask.answer(Ok(answers));
                }
                Event::Done(outcome) => return outcome,
                Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
            }
        }
        panic!("the hub ended");
    }

    /// Calls every tool, reads every resource, gets every prompt.
    async fn use_everything(&self, context: &Value) {
        let tools = self.items(ListKind::Tools, "tools").await;
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            let mut said = context["toolCalls"].as_array().into_iter().flatten();
            let arguments = match said.find(|call| call["name"] == name) {
                Some(call) => call["arguments"].clone(),
                None if name == "json_schema_echo" => json!({"schema": rich_schema(&tools)}),
                None => sample(&tool["inputSchema"]),
            };
            self.finish(|| call(client_legacy(), name, arguments.clone())).await;
        }
        for resource in self.items(ListKind::Resources, "resources").await {
            let uri = resource["uri"].as_str().unwrap();
            self.send(&Target::Resource(uri.into()), json!({"uri": uri})).await;
        }
        for prompt in self.items(ListKind::Prompts, "prompts").await {
            let name = prompt["name"].as_str().unwrap();
            self.send(&Target::Prompt(name.into()), json!({"name": name})).await;
        }
    }

    async fn items(&self, kind: ListKind, key: &str) -> Vec<Value> {
        self.rig.list(kind).await.to::<Value>().unwrap()[key].as_array().unwrap().clone()
    }

    async fn send(&self, target: &Target, params: Value) {
        let call = || Call::new(Principal::local(), client_legacy(), target.clone(), Raw::of(&params));
        self.finish(call).await;
    }
}

/// The schema that the suite wants to see again as it was.
fn rich_schema(tools: &[Value]) -> &Value {
    &tools.iter().find(|tool| tool["name"] == "json_schema_2020_12_tool").unwrap()["inputSchema"]
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

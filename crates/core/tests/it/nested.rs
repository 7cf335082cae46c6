//! Calls that a source makes while it answers another.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate_core::{
    Admission, AnyTool, Error, Event, Hints, Json, Kind, Limiter, Outcome, Pack, PackSource, Place,
    Principal, Question, Result, RunHandle, Search, Settings, SourceId, Taken, Target, Text, TooMany, Tool,
    ToolSpec, Verdict, error_result, tool,
};
use toolgate_testkit::{
    Expect as _, FakeGate, builder, call, client_legacy, client_modern, drive, first_round, retry,
};
use toolgate_wire::Raw;

/// Calls the tool that it is told to, and answers with what came of it.
struct Relay;

impl Pack for Relay {
    const NAME: &'static str = "relay";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(RelayCall), tool(RelayAsk), tool(RelaySay)]
    }
}

struct RelayCall;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wanted {
    tool: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Came {
    of: Value,
    seen: Vec<String>,
}

impl Tool<Relay> for RelayCall {
    type Input = Wanted;
    type Output = Json<Came>;
    const SPEC: ToolSpec =
        ToolSpec { name: "relay_call", title: "Relay", description: "Relays.", hints: Hints::READ_ONLY };

    async fn run(&self, _: &Relay, run: &RunHandle, input: Wanted) -> Result<Json<Came>> {
        let seen = run.view().await.tools().map(|tool| tool.name.to_string()).collect();
        let mut nested = run.start(input.tool.parse()?, Raw::of(&input.arguments));
        while let Some(event) = nested.next().await {
            match event {
                Event::Ask(ask) => {
                    assert!(nested.is_held());
                    run.pass_on(ask).await;
                }
                Event::Done(Outcome::Complete(result)) => {
                    return Ok(Json(Came { of: result.to().unwrap(), seen }));
                }
                Event::Done(Outcome::Failed(error)) => return Err(error),
                Event::Done(other) => panic!("{other:?}"),
                Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
            }
        }
        panic!("no outcome")
    }
}

struct RelayAsk;

impl Tool<Relay> for RelayAsk {
    type Input = std::collections::BTreeMap<String, Value>;
    type Output = Text;
    const SPEC: ToolSpec =
        ToolSpec { name: "relay_ask", title: "Ask", description: "Asks.", hints: Hints::READ_ONLY };

    async fn run(&self, _: &Relay, run: &RunHandle, _: Self::Input) -> Result<Text> {
        let form = Raw::literal(r#"{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}"#);
        let answers = run.ask(vec![Question::elicit("sure", form)]).await?;
        Ok(Text(answers.get("sure").unwrap().as_str().to_owned()))
    }
}

struct RelaySay;

impl Tool<Relay> for RelaySay {
    type Input = std::collections::BTreeMap<String, Value>;
    type Output = Text;
    const SPEC: ToolSpec =
        ToolSpec { name: "relay_say", title: "Say", description: "Says.", hints: Hints::READ_ONLY };

    async fn run(&self, _: &Relay, run: &RunHandle, input: Self::Input) -> Result<Text> {
        Ok(Text(format!("{} {} {input:?}", run.principal().id, run.is_nested())))
    }
}

/// A gate that denies one tool.
fn denying(name: &'static str) -> FakeGate {
    FakeGate::new(move |judged| match judged.call.target.name() == name {
        true => Verdict::Deny(Error::new(Kind::Denied, "no")),
        false => Verdict::Pass,
    })
}

fn relay() -> [Arc<PackSource<Relay>>; 1] {
    [Arc::new(PackSource::new(Relay))]
}

fn wanted(tool: &str) -> Value {
    json!({"tool": tool, "arguments": {"a": 1}})
}

#[tokio::test]
async fn a_nested_call_is_one_of_the_same_caller() {
    let hub = builder(relay()).build().unwrap();
    let outcome = drive(hub.start(call(client_legacy(), "relay_call", wanted("relay_say"))), []).await;
    let came = &outcome.complete()["structuredContent"];
    assert_eq!(came["of"]["content"][0]["text"], r#"local true {"a": Number(1)}"#);
    assert_eq!(came["seen"], json!(["relay_ask", "relay_call", "relay_say"]));
}

#[tokio::test]
async fn a_nested_call_is_judged_and_finds_no_more_than_its_caller() {
    let gate = denying("relay_say");
    let hub = builder(relay()).gate(Box::new(gate)).build().unwrap();
    let denied = drive(hub.start(call(client_legacy(), "relay_call", wanted("relay_say"))), []).await;
    assert_eq!(denied.failed().kind(), Kind::Denied);

    let settings = Settings { search: Search::Always, ..Settings::default() };
    let hub = builder(relay()).settings(settings).build().unwrap();
    let around = json!({"tool": "tools_call", "arguments": {"name": "relay_say"}});
    let around = drive(hub.start(call(client_legacy(), "relay_call", around)), []).await;
    assert_eq!(around.failed().kind(), Kind::NotFound);
}

#[tokio::test]
async fn the_question_of_a_nested_call_reaches_the_client_in_both_eras() {
    let hub = builder(relay()).build().unwrap();
    let answer = json!({"action": "accept", "content": {}});
    let asked = hub.start(call(client_legacy(), "relay_call", wanted("relay_ask")));
    let asked = drive(asked, [("sure", answer.clone())]).await;
    let text =
        |came: Value| came["structuredContent"]["of"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(asked.complete()), answer.to_string());

    let modern = || call(client_modern(), "relay_call", wanted("relay_ask"));
    let (_, state) = first_round(&hub, modern()).await.asked();
    let done = first_round(&hub, retry(modern(), &state, json!({"sure": answer}))).await;
    assert_eq!(text(done.complete()), answer.to_string());
}

#[tokio::test]
async fn a_nested_call_takes_a_token_of_its_own_kind() {
    #[derive(Default)]
    struct Counting(Mutex<Vec<String>>);
    impl Limiter for Counting {
        fn take(&self, _: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {
            self.0.lock().unwrap().push(target.unwrap().name().to_owned());
            Ok(Taken::default())
        }
        fn give_back(&self, _: &Principal, target: &Target, _: &Taken) {
            self.0.lock().unwrap().push(format!("-{}", target.name()));
        }
        fn take_nested(&self, _: &Principal, target: &Target) -> Result<Taken, TooMany> {
            self.0.lock().unwrap().push(format!("nested {}", target.name()));
            match target.name() == "relay_often" {
                true => Err(TooMany { retry_after: std::time::Duration::from_secs(1), first: true }),
                false => Ok(Taken { own: Some(7), ..Taken::default() }),
            }
        }
        fn give_back_nested(&self, _: &Principal, target: &Target, taken: &Taken) {
            assert_eq!(taken.own, Some(7), "what was taken is what is given back");
            self.0.lock().unwrap().push(format!("-nested {}", target.name()));
        }
        fn enter(&self, _: &Principal, _: &SourceId) -> Admission<'_> {
            Admission::Now(Place::default())
        }
    }
    let counting = Arc::new(Counting::default());
    let gate = denying("relay_ask");
    let hub = builder(relay()).gate(Box::new(gate)).limiter(counting.clone()).build().unwrap();
    drive(hub.start(call(client_legacy(), "relay_call", wanted("relay_say"))), []).await.complete();
    drive(hub.start(call(client_legacy(), "relay_call", wanted("relay_ask"))), []).await.failed();
    let often = drive(hub.start(call(client_legacy(), "relay_call", wanted("relay_often"))), []).await;
    assert_eq!(often.failed().kind(), Kind::RateLimited);
    assert_eq!(
        *counting.0.lock().unwrap(),
        [
            "relay_call",
            "nested relay_say",
            "relay_call",
            "nested relay_ask",
            "-nested relay_ask",
            "relay_call",
            "nested relay_often",
        ]
    );
}

#[tokio::test]
async fn a_sentence_begins_the_answer() {
    let error = Error::new(Kind::NeedsApproval, "It waits. Look at it.").as_sentence().hint("look");
    let result: Value = error_result(&error, "run").to().unwrap();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Error: It waits. Look at it.\n\nSuggestions:\n  1. look"), "{text}");
}

//! Built-in tools, and the pack that holds them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{
    AnyTool, Call, Hints, Hub, Json, Kind, ListKind, Outcome, Pack, PackSource, Principal, Result, RunHandle,
    Settings, TaskMode, Text, Tool, ToolSpec, tool,
};
use toolgate_testkit::{
    Expect, builder, call, client_legacy, client_modern, drive, first_round, hub, list, list_names,
};
use toolgate_wire::Raw;

struct Sums;

impl Pack for Sums {
    const NAME: &'static str = "sums";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(Add), tool(Say), tool(Slow)]
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Numbers {
    /// The first.
    a: i64,
    /// The second, else 1.
    b: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    /// The sum.
    sum: i64,
}

struct Add;

impl Tool<Sums> for Add {
    type Input = Numbers;
    type Output = Json<Sum>;
    const SPEC: ToolSpec =
        ToolSpec { name: "sums_add", title: "Add", description: "Adds.", hints: Hints::READ_ONLY };

    async fn run(&self, _: &Sums, _: &RunHandle, input: Numbers) -> Result<Json<Sum>> {
        Ok(Json(Sum { sum: input.a + input.b.unwrap_or(1) }))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

struct Say;

impl Tool<Sums> for Say {
    type Input = Nothing;
    type Output = Text;
    const SPEC: ToolSpec =
        ToolSpec { name: "sums_say", title: "Say", description: "Says.", hints: Hints::CREATE };

    async fn run(&self, _: &Sums, _: &RunHandle, _: Nothing) -> Result<Text> {
        Ok(Text("hello\n\"you\"".into()))
    }
}

struct Slow;

impl Tool<Sums> for Slow {
    type Input = Nothing;
    type Output = Text;
    const SPEC: ToolSpec =
        ToolSpec { name: "sums_slow", title: "Slow", description: "Takes time.", hints: Hints::READ_ONLY };
    const TASK: TaskMode = TaskMode::Required;

    async fn run(&self, _: &Sums, _: &RunHandle, _: Nothing) -> Result<Text> {
        Ok(Text("at last".into()))
    }
}

fn sums() -> Hub {
    hub([Arc::new(PackSource::new(Sums))])
}

async fn exact(hub: &Hub, call: Call) -> String {
    let Outcome::Complete(raw) = drive(hub.start(call), []).await.outcome else { panic!("not complete") };
    raw.as_str().to_owned()
}

#[tokio::test]
async fn a_tool_is_listed_as_it_describes_itself() {
    let hub = sums();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["sums_add", "sums_say", "sums_slow"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&list(&hub, ListKind::Tools, None).await).unwrap());
}

#[tokio::test]
async fn text_is_answered_as_text_and_data_as_both() {
    let hub = sums();
    assert_eq!(
        exact(&hub, call(client_legacy(), "sums_say", json!({}))).await,
        r#"{"content":[{"type":"text","text":"hello\n\"you\""}],"isError":false}"#
    );
    let add = || call(client_legacy(), "sums_add", json!({"a": 1, "b": 2}));
    assert_eq!(
        exact(&hub, add()).await,
        r#"{"content":[{"type":"text","text":"{\n  \"sum\": 3\n}"}],"structuredContent":{"sum":3},"isError":false}"#
    );
    let settings = Settings { compact: true, ..Settings::default() };
    let compact = builder([Arc::new(PackSource::new(Sums))]).settings(settings).build().unwrap();
    assert_eq!(
        exact(&compact, add()).await,
        r#"{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3},"isError":false}"#
    );
}

#[tokio::test]
async fn wrong_arguments_never_reach_the_tool() {
    let hub = sums();
    for (arguments, named) in [(json!({}), "a"), (json!({"a": "x"}), "a"), (json!({"a": 1, "c": 1}), "c")] {
        let error = drive(hub.start(call(client_legacy(), "sums_add", arguments)), []).await.failed();
        assert_eq!(error.kind(), Kind::InvalidInput);
        assert!(error.message().contains(named), "{error}");
    }
    // `arguments` may be left out where nothing is required.
    let mut bare = call(client_legacy(), "sums_say", json!({}));
    bare.params = Raw::literal(r#"{"name":"sums_say"}"#);
    drive(hub.start(bare), []).await.complete();
}

#[tokio::test]
async fn a_tool_that_must_be_a_task_is_one_or_says_what_it_needs() {
    let hub = sums();
    let task = first_round(&hub, call(client_modern(), "sums_slow", json!({}))).await.task();
    assert_eq!(task["status"], "working");
    let error = drive(hub.start(call(client_legacy(), "sums_slow", json!({}))), []).await.failed();
    assert_eq!(error.kind(), Kind::MissingCapability);
}

#[tokio::test]
async fn a_pack_without_resources_and_prompts_has_none() {
    let hub = sums();
    assert!(hub.offers().tools && !hub.offers().resources && !hub.offers().prompts);
    for kind in [ListKind::Resources, ListKind::Templates, ListKind::Prompts] {
        assert!(list_names(&hub, kind).await.is_empty());
    }
    let read = toolgate_core::Target::Resource("x:1".into());
    let read = Call::new(Principal::local(), client_legacy(), read, Raw::literal("{}"));
    assert_eq!(drive(hub.start(read), []).await.failed().kind(), Kind::ResourceNotFound);
}

//! A hub with scripts, a few other tools, secrets, and several callers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_core::{
    AnyTool, Call, Error, Hints, Hub, HubBuilder, Json, Kind, Outcome, Pack, PackSource, Principal, Result,
    RunHandle, ServerInfo, Source, Target, Text, Tool, ToolSpec, error_result, tool,
};
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_script::{ChildProgram, ScriptPack, ScriptParts, Scripts, ScriptsConfig};
use toolgate_testkit::{Driven, MemoryStore, client_legacy, drive};
use toolgate_wire::Raw;

/// How long a script may take where that is not what is tried: a busy machine may need most of it.
const UNHURRIED_MS: u64 = 600_000;

pub(crate) struct Scene {
    _folder: TempDir,
    pub(crate) hub: Hub,
    pub(crate) scripts: Scripts,
    pub(crate) secrets: Arc<Mutex<BTreeMap<String, String>>>,
    /// Whose tasks the children need.
    pub(crate) tasks: Tasks,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|_| {}, |builder| builder)
    }

    pub(crate) fn set(set: impl FnOnce(&mut ScriptsConfig)) -> Self {
        Self::with(set, |builder| builder)
    }

    pub(crate) fn with(
        set: impl FnOnce(&mut ScriptsConfig),
        build: impl FnOnce(HubBuilder) -> HubBuilder,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = ScriptsConfig { timeout_ms: UNHURRIED_MS, ..ScriptsConfig::default() };
        set(&mut config);
        let store = Arc::new(MemoryStore::new());
        let scripts = Scripts::new(&config, folder.path().join("scripts"), store, Clock::system());
        std::fs::create_dir_all(scripts.folder()).unwrap();
        let secrets = Arc::new(Mutex::new(BTreeMap::<String, String>::new()));
        let kept = secrets.clone();
        let tasks = Tasks::new();
        let owned = tasks.child();
        let pack = ScriptPack::new(ScriptParts {
            config,
            scripts: scripts.clone(),
            program: ChildProgram { path: env!("CARGO_BIN_EXE_script-child").into(), arguments: Vec::new() },
            secrets: Arc::new(move |name| kept.lock().unwrap().get(name).cloned().map(Secret::new)),
            tasks: owned.clone(),
        });
        let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
        let builder = Hub::builder(info, tasks)
            .source(Arc::new(PackSource::new(pack)) as Arc<dyn Source>)
            .source(Arc::new(PackSource::new(Echo)) as Arc<dyn Source>);
        Self { hub: build(builder).build().unwrap(), scripts, secrets, tasks: owned, _folder: folder }
    }

    /// Puts a script into the folder.
    pub(crate) fn write(&self, name: &str, source: &str) {
        std::fs::write(self.scripts.folder().join(name), source).unwrap();
    }

    /// Puts a script into the folder and approves it.
    pub(crate) async fn approved(&self, name: &str, source: &str) {
        self.write(name, source);
        let seen = self.scripts.look(name).await.unwrap().script.hash;
        self.scripts.approve(name, &seen, "admin").await.unwrap();
    }

    pub(crate) async fn call_as(&self, who: &str, tool: &str, arguments: Value) -> Driven {
        let params = Raw::of(&json!({"name": tool, "arguments": arguments}));
        let target = Target::Tool(tool.parse().unwrap());
        drive(self.hub.start(Call::new(Principal::named(who), client_legacy(), target, params)), []).await
    }

    /// What a call answers, structured, or its error.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        answer(self.call_as("ada", tool, arguments).await)
    }

    /// What a script answers.
    pub(crate) async fn run(&self, name: &str) -> Result<Value> {
        self.call("script_run", json!({"name": name})).await.map(|answer| answer["result"].clone())
    }

    /// Approves a source, and runs it.
    pub(crate) async fn run_source(&self, source: &str) -> Result<Value> {
        self.approved("test.star", source).await;
        self.run("test").await
    }
}

pub(crate) fn answer(driven: Driven) -> Result<Value> {
    match driven.outcome {
        Outcome::Complete(raw) => Ok(raw.get("structuredContent").unwrap().to().unwrap()),
        Outcome::Failed(error) => Err(error),
        other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
    }
}

/// The text that a client shows for an error.
pub(crate) fn text(error: &Error) -> String {
    let result: Value = error_result(error, "run").to().unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Checks that something failed in a way, with words.
#[track_caller]
pub(crate) fn check_failed(result: Result<Value>, kind: Kind, words: &[&str]) {
    let Err(error) = result else { panic!("it ended well, and not with {words:?}") };
    assert_eq!(error.kind(), kind, "{error}");
    for word in words {
        assert!(error.message().contains(word), "`{word}` is not in:\n{error}");
    }
}

/// A few tools to call.
struct Echo;

impl Pack for Echo {
    const NAME: &'static str = "echo";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(EchoData), tool(EchoText), tool(EchoFail), tool(EchoSleep)]
    }
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Said {
    #[serde(default)]
    text: String,
    #[serde(default)]
    by: String,
}

macro_rules! echo {
    ($type:ident, $name:literal, $output:ty, |$run:ident, $input:ident| $body:expr) => {
        struct $type;
        impl Tool<Echo> for $type {
            type Input = Said;
            type Output = $output;
            const SPEC: ToolSpec =
                ToolSpec { name: $name, title: "Echo", description: "Echoes.", hints: Hints::READ_ONLY };
            async fn run(&self, _: &Echo, $run: &RunHandle, $input: Said) -> Result<$output> {
                $body
            }
        }
    };
}

echo!(EchoData, "echo_data", Json<Said>, |run, input| Ok(Json(Said {
    by: run.principal().id.to_string(),
    ..input
})));
echo!(EchoText, "echo_text", Text, |_run, input| Ok(Text(input.text)));
echo!(EchoFail, "echo_fail", Text, |_run, input| Err(Error::new(
    Kind::NotFound,
    format!("no {}", input.text)
)));
echo!(EchoSleep, "echo_sleep", Text, |_run, _input| {
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    Ok(Text(String::new()))
});

//! One real OpenCode for the whole run of the tests: it is slow to start.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Call, Client, Error, Hub, Outcome, PackSource};
use toolgate_host::Tasks;
use toolgate_opencode::{Opencode, OpencodeConfig, Surroundings};
use toolgate_testkit::{Driven, call, client_legacy, drive, hub};

use crate::fake_model;

/// How long anything may take here; the machine may be very busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// The one OpenCode, and a hub whose pack has started it.
pub(crate) static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

pub(crate) struct Stage {
    runtime: tokio::runtime::Runtime,
    pub(crate) hub: Hub,
    pub(crate) project: PathBuf,
    pub(crate) model: String,
    pub(crate) home: PathBuf,
    pub(crate) tasks: Tasks,
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        // It lives as long as the process; what it leaves is in the machine's folder for such things.
        let home = std::fs::canonicalize(tempfile::tempdir().unwrap().keep()).unwrap();
        let project = home.join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::write(project.join("notes.txt"), "the moon is made of cheese\n").unwrap();
        let tasks = Tasks::new();
        let model = runtime.block_on(async { fake_model::start(&tasks).await });
        let (hub, _) = {
            let _inside = runtime.enter();
            pack(OpencodeConfig::default(), (&home, &project, &model), &tasks)
        };
        Self { runtime, hub, project, model, home, tasks }
    }

    /// Runs a test, within limits.
    pub(crate) fn run<T>(&self, test: impl Future<Output = T>) -> T {
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("the test takes too long") })
    }

    /// Another pack with a configuration of its own.
    pub(crate) fn other(&self, config: OpencodeConfig) -> (Hub, Tasks) {
        let _inside = self.runtime.enter();
        pack(config, (&self.home, &self.project, &self.model), &self.tasks.child())
    }

    /// Calls a tool as a client that can answer questions.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result(self.ask(client_legacy(), (tool, arguments), []).await)
    }

    /// Calls a tool, and answers what it asks.
    pub(crate) async fn ask<const N: usize>(
        &self,
        client: Arc<Client>,
        (tool, arguments): (&str, Value),
        answers: [(&str, Value); N],
    ) -> Driven {
        drive(self.hub.start(call(client, tool, arguments)), answers).await
    }

    /// The structured content of a call that went well.
    pub(crate) fn result(&self, driven: Driven) -> Value {
        match driven.outcome {
            Outcome::Complete(raw) => raw.to::<Value>().unwrap()["structuredContent"].clone(),
            other => panic!("{other:?} after {:?}", driven.events),
        }
    }

    /// The error of a call that has to fail.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> Error {
        fails(&self.hub, call(client_legacy(), tool, arguments)).await
    }
}

/// The error of a call that has to fail.
pub(crate) async fn fails(hub: &Hub, call: Call) -> Error {
    match drive(hub.start(call), []).await.outcome {
        Outcome::Failed(error) => error,
        other => panic!("it did not fail: {other:?}"),
    }
}

fn pack(
    config: OpencodeConfig,
    (home, project, model): (&PathBuf, &PathBuf, &str),
    tasks: &Tasks,
) -> (Hub, Tasks) {
    let config = OpencodeConfig { program: config.program.or_else(|| Some(program())), ..config };
    let around = Surroundings {
        variables: variables(home, model),
        password: config.password.clone().map(toolgate_host::Secret::new),
        folder: project.clone(),
        // Nothing listens there: what else runs on this machine is not ours to use.
        usual_url: "http://127.0.0.1:9".into(),
    };
    let pack = Opencode::new(config, around, tasks);
    (hub([Arc::new(PackSource::new(pack))]), tasks.clone())
}

pub(crate) fn variables(home: &std::path::Path, model: &str) -> Vec<(String, String)> {
    let settings = json!({
        "model": "fake/fake-1",
        "small_model": "fake/fake-1",
        "autoupdate": false,
        "share": "disabled",
        "enabled_providers": ["fake"],
        "permission": {"bash": "ask"},
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": model, "apiKey": "sk-fake"},
            "models": {
                "fake-1": {"name": "Fake One", "limit": {"context": 100_000, "output": 4096}},
                "deep/er/name": {"name": "Fake Two", "limit": {"context": 100_000, "output": 4096}},
            },
        }},
    });
    let home = home.to_str().unwrap();
    let pairs = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", home),
        ("OPENCODE_CONFIG_CONTENT", &settings.to_string()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("SECRET_OF_OURS", "not for OpenCode"),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// The real OpenCode, as `tests/peers/install.sh` installs it.
pub(crate) fn program() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "this is for who runs the tests, not for the program")]
    let peers = match std::env::var_os("TOOLGATE_PEERS_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
    };
    let names = ["opencode-linux-x64", "opencode-linux-x64-baseline", "opencode-linux-arm64"];
    let places = names.map(|name| peers.join("node_modules").join(name).join("bin/opencode"));
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.unwrap_or_else(|| {
        panic!("there is no OpenCode in {}; run `bash tests/peers/install.sh`", peers.display())
    })
}

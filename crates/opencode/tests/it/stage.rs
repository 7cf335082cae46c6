//! One real OpenCode for the whole run of the tests: it is slow to start.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Value;
use toolgate_core::{Call, Client, Error, Hub, Outcome, PackSource};
use toolgate_host::{Program, Tasks};
use toolgate_opencode::{Opencode, OpencodeConfig, Surroundings};
use toolgate_testkit::{Driven, OpencodeHome, call, client_legacy, drive, hub, opencode_program};

/// How long anything may take here; the machine may be very busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(400);

/// Nothing listens there: what else runs on this machine is not ours to use.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The one OpenCode, and a hub whose pack has started it.
pub(crate) static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

pub(crate) struct Stage {
    runtime: tokio::runtime::Runtime,
    pub(crate) hub: Hub,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) tasks: Tasks,
    kept: OpencodeHome,
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let kept = OpencodeHome::new();
        let home = kept.path().to_owned();
        let project = home.join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("notes.txt"), "the moon is made of cheese\n").unwrap();
        runtime.block_on(keep(&project));
        let tasks = Tasks::new();
        let hub = {
            let _inside = runtime.enter();
            pack(OpencodeConfig::default(), (&project, NOWHERE), variables(&kept), &tasks)
        };
        Self { runtime, hub, project, home, tasks, kept }
    }

    /// What an OpenCode of ours sees.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        variables(&self.kept)
    }

    /// Runs a test, within limits.
    pub(crate) fn run<T>(&self, test: impl Future<Output = T>) -> T {
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("the test takes too long") })
    }

    /// Another pack with a configuration of its own.
    pub(crate) fn other(&self, config: OpencodeConfig) -> (Hub, Tasks) {
        self.other_near(config, NOWHERE)
    }

    /// Another pack, where an OpenCode usually listens at this address.
    pub(crate) fn other_near(&self, config: OpencodeConfig, usual_url: &str) -> (Hub, Tasks) {
        let _inside = self.runtime.enter();
        let tasks = self.tasks.child();
        (pack(config, (&self.project, usual_url), self.variables(), &tasks), tasks)
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

/// Puts a folder, as it is, under version control.
pub(crate) async fn keep(folder: &Path) {
    git(folder, &["init", "-q"]).await;
    commit(folder, ".").await;
}

/// Puts what is there now under version control.
pub(crate) async fn commit(folder: &Path, what: &str) {
    git(folder, &["add", what]).await;
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"]).await;
}

async fn git(folder: &Path, arguments: &[&str]) {
    let git = Program::new("/usr/bin/git").arguments(["-C", folder.to_str().unwrap()]);
    let ended = git.arguments(arguments.iter().copied()).variable("HOME", "/nowhere").run().await.unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// The error of a call that has to fail.
pub(crate) async fn fails(hub: &Hub, call: Call) -> Error {
    match drive(hub.start(call), []).await.outcome {
        Outcome::Failed(error) => error,
        Outcome::Complete(raw) => panic!("it did not fail: {}", raw.as_str()),
        other => panic!("it did not fail: {other:?}"),
    }
}

fn pack(
    config: OpencodeConfig,
    (project, usual_url): (&Path, &str),
    variables: Vec<(String, String)>,
    tasks: &Tasks,
) -> Hub {
    let config = OpencodeConfig { program: config.program.or_else(|| Some(opencode_program())), ..config };
    let around = Surroundings {
        variables,
        password: config.password.clone().map(toolgate_host::Secret::new),
        folder: project.to_owned(),
        usual_url: usual_url.into(),
    };
    hub([Arc::new(PackSource::new(Opencode::new(config, around, tasks)))])
}

fn variables(home: &OpencodeHome) -> Vec<(String, String)> {
    let ours = ("SECRET_OF_OURS".to_owned(), "not for OpenCode".to_owned());
    home.variables().into_iter().chain([ours]).collect()
}

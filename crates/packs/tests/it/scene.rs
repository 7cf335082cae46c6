//! A workspace and a memory with something to protect beside them, behind a hub.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_core::{
    Call, Change, Changes, Error, Hub, InputCheck, ListKind, Outcome, PackSource, Principal, ServerInfo,
    Target, local_client, search_tools,
};
use toolgate_host::Tasks;
use toolgate_packs::{Calendar, Chat, Github, Memory, MemoryConfig, Vault, Web, Workspace, WorkspaceConfig};
use toolgate_testkit::house_rules::{Definitions, definitions as definitions_of};
use toolgate_testkit::{call, list_names};
use toolgate_wire::Raw;

pub(crate) const SECRET: &str = "the secret outside";

/// How many bytes may be read, in tests.
pub(crate) const READ_LIMIT: u64 = 1_000;
/// How many bytes a file may have, in tests.
pub(crate) const WRITE_LIMIT: u64 = 2_000;

// Long enough for a machine that does much else; a test that passes does not wait for it.
const PATIENCE: Duration = Duration::from_secs(120);

/// `work/` is the workspace and `memory/` the memory; `outside/` and `work-evil/` must stay as they are.
pub(crate) struct Scene {
    pub(crate) place: TempDir,
    pub(crate) hub: Hub,
    pub(crate) workspace: Workspace,
}

impl Scene {
    /// A scene whose workspace is configured.
    pub(crate) fn new() -> Self {
        Self::with(|place| Some(place.join("work")))
    }

    /// A scene whose workspace is what `root` says; `own/` is the fallback.
    pub(crate) fn with(root: impl FnOnce(&Path) -> Option<PathBuf>) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["outside", "work-evil"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            fs::write(place.path().join(folder).join("secret.txt"), SECRET).unwrap();
        }
        fs::create_dir(place.path().join("work")).unwrap();
        let tasks = Tasks::new();
        let config = WorkspaceConfig {
            root: root(place.path()),
            max_read_bytes: READ_LIMIT,
            max_write_bytes: WRITE_LIMIT,
        };
        let (fallback, own_file) = (place.path().join("own"), place.path().join("work/gate/own.toml"));
        let workspace = Workspace::new(config, fallback, Some(own_file), &tasks).unwrap();
        let memory = MemoryConfig { max_bytes: WRITE_LIMIT, ..MemoryConfig::default() };
        let memory = Memory::new(memory, place.path().join("memory"), &tasks);
        let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
        let hub = Hub::builder(info, tasks)
            .source(Arc::new(PackSource::new(workspace.clone())))
            .source(Arc::new(PackSource::new(memory)))
            .build()
            .unwrap();
        Self { place, hub, workspace }
    }

    /// A path of the host beside or below the roots.
    pub(crate) fn host(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    /// Puts a file somewhere on the host.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.host(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// What a file of the host holds.
    #[track_caller]
    pub(crate) fn held(&self, path: &str) -> String {
        fs::read_to_string(self.host(path)).unwrap()
    }

    /// Calls a tool as a command on this machine does.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        self.end(call(local_client(), tool, arguments)).await
    }

    /// The text that a tool answers with.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        text(&self.call(tool, arguments).await.unwrap()).to_owned()
    }

    /// The data that a tool answers with.
    pub(crate) async fn data(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await.unwrap();
        let data = result["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), data);
        check_output(tool, &data);
        data
    }

    /// Reads a resource.
    pub(crate) async fn read(&self, uri: &str) -> Result<Value, Error> {
        self.end(resource_call(Target::Resource(uri.into()))).await
    }

    /// Watches a resource.
    pub(crate) async fn subscribe(&self, uri: &str) -> Result<Value, Error> {
        self.end(resource_call(Target::Subscribe(uri.into()))).await
    }

    /// What changes from now on.
    pub(crate) fn changes(&self) -> Changes {
        self.hub.changes(&Principal::local())
    }

    async fn end(&self, call: Call) -> Result<Value, Error> {
        match within(self.hub.start(call).outcome()).await {
            Outcome::Complete(raw) => Ok(raw.to().unwrap()),
            Outcome::Failed(error) => {
                self.check_error(&error);
                Err(error)
            }
            other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => {
                panic!("neither complete nor failed: {other:?}")
            }
        }
    }

    /// No error names a place on the host, or what is in a file outside.
    #[track_caller]
    fn check_error(&self, error: &Error) {
        let told = format!("{} {:?}", error.message(), error.next_step());
        assert!(!told.contains(self.place.path().to_str().unwrap()), "{told}");
        assert!(!told.contains(SECRET), "{told}");
    }

    #[track_caller]
    pub(crate) fn assert_outside_untouched(&self) {
        for folder in ["outside", "work-evil"] {
            assert_eq!(self.held(&format!("{folder}/secret.txt")), SECRET);
            assert_eq!(fs::read_dir(self.host(folder)).unwrap().count(), 1);
        }
    }
}

/// A call for a resource.
fn resource_call(target: Target) -> Call {
    let params = Raw::of(&json!({"uri": target.name()}));
    Call::new(Principal::local(), local_client(), target, params)
}

/// The only text item of a result.
#[track_caller]
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["isError"], false);
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().unwrap()
}

/// Definitions of all built-in tools, by name of their pack; those to search with are the hub's own.
pub(crate) fn definitions() -> Definitions {
    let search = search_tools().into_iter().map(|tool| ("tools", tool.raw.to().unwrap())).collect();
    [
        definitions_of::<Workspace>(),
        definitions_of::<Memory>(),
        definitions_of::<Vault>(),
        definitions_of::<Web>(),
        search,
        definitions_of::<Chat>(),
        definitions_of::<Calendar>(),
        definitions_of::<Github>(),
    ]
    .concat()
}

/// That data is what the tool says it answers with.
#[track_caller]
pub(crate) fn check_output(tool: &str, data: &Value) {
    let (_, definition) =
        definitions().into_iter().find(|(_, definition)| definition["name"] == tool).unwrap();
    InputCheck::new(definition["outputSchema"].clone()).check(&Raw::of(data)).unwrap();
}

/// Waits for something that should not take long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this takes too long")
}

/// Waits until the list of resources is this one, looking whenever it is said to have changed.
pub(crate) async fn relisted(hub: &Hub, changes: &mut Changes, expect: &[&str]) {
    let mut names = list_names(hub, ListKind::Resources).await;
    let waiting = async {
        while names != expect {
            let change = changes.next().await.expect("the hub is there");
            if matches!(change, Change::Listed(_, ListKind::Resources)) {
                names = list_names(hub, ListKind::Resources).await;
            }
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, waiting).await.is_ok();
    assert!(in_time, "expected {expect:?}, but there is {names:?}");
}

/// Waits until a resource is said to have changed.
pub(crate) async fn updated(changes: &mut Changes, uri: &str) {
    within(async {
        let told = |change: &Change| matches!(change, Change::Updated(updated) if *updated.uri == *uri);
        while !told(&changes.next().await.expect("the hub is there")) {}
    })
    .await;
}

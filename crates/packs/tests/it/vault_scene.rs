//! A vault with something to protect beside it and in it, behind a hub.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_core::{Error, Hub, Kind};
use toolgate_host::{Secret, Tasks};
use toolgate_packs::vault::{NoVault, Tools, Vault, VaultConfig, VaultPlace};

use crate::peer::{ask, hub};
use crate::scene::SECRET;

/// Where git is.
pub(crate) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `notes/` is the vault; `outside/` and `notes-evil/` must stay as they are.
pub(crate) struct Scene {
    pub(crate) place: TempDir,
    pub(crate) hub: Hub,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A scene whose vault is configured further.
    pub(crate) fn with(configure: impl FnOnce(&mut VaultConfig)) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["outside", "notes-evil"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            fs::write(place.path().join(folder).join("secret.md"), SECRET).unwrap();
        }
        fs::create_dir(place.path().join("notes")).unwrap();
        Self::over(place, configure)
    }

    /// A scene in a place that is there already.
    pub(crate) fn over(place: TempDir, configure: impl FnOnce(&mut VaultConfig)) -> Self {
        let mut config = VaultConfig {
            root: Some(place.path().join("notes")),
            max_read_bytes: 10_000,
            max_write_bytes: 20_000,
            ..VaultConfig::default()
        };
        configure(&mut config);
        let hub = hub(vault(&config, place.path()).unwrap());
        Self { place, hub }
    }

    /// The same vault for a machine that has other programs before the usual ones.
    pub(crate) fn with_programs(self, folder: &str, config: &VaultConfig) -> Self {
        let search_path = format!("{}:{SEARCH_PATH}", self.host(folder).display());
        let hub = hub(vault_with(config, self.place.path(), search_path).unwrap());
        Self { hub, ..self }
    }

    pub(crate) fn host(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    /// Puts a file somewhere below the place.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.host(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub(crate) fn held(&self, path: &str) -> String {
        fs::read_to_string(self.host(path)).unwrap()
    }

    /// The data of a tool's answer.
    pub(crate) async fn data(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.unwrap_or_else(|error| panic!("{error} {:?}", error.next_step()))
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let (outcome, _) = ask(&self.hub, tool, arguments).await;
        if let Err(error) = &outcome {
            let told = format!("{} {:?}", error.message(), error.next_step());
            assert!(!told.contains(self.place.path().to_str().unwrap()) && !told.contains(SECRET), "{told}");
        }
        outcome
    }

    /// What a write answers.
    pub(crate) async fn write(&self, path: &str, content: &str) -> Value {
        self.data("vault_write", json!({"path": path, "content": content})).await
    }

    /// The paths that a search finds, in order.
    pub(crate) async fn found(&self, query: &str) -> Vec<String> {
        paths(&self.data("vault_search", json!({"query": query})).await)
    }

    #[track_caller]
    pub(crate) fn assert_outside_untouched(&self) {
        for folder in ["outside", "notes-evil"] {
            assert_eq!(self.held(&format!("{folder}/secret.md")), SECRET);
            assert_eq!(fs::read_dir(self.host(folder)).unwrap().count(), 1);
        }
    }
}

/// A vault in a place.
pub(crate) fn vault(config: &VaultConfig, place: &Path) -> Result<Vault, NoVault> {
    vault_with(config, place, SEARCH_PATH.into())
}

fn vault_with(config: &VaultConfig, place: &Path, search_path: String) -> Result<Vault, NoVault> {
    let tools = Tools { search_path, ssh_agent: Some("/nowhere/agent".into()) };
    let tasks = Tasks::new();
    let place = VaultPlace { own: place.join("own"), tools, tasks: &tasks };
    Vault::new(config, place, |text| Ok(Secret::new(text.to_owned())))
}

/// The paths of the items of an answer.
pub(crate) fn paths(data: &Value) -> Vec<String> {
    data["items"].as_array().unwrap().iter().map(|item| item["path"].as_str().unwrap().to_owned()).collect()
}

/// What a call that has to fail says.
pub(crate) async fn refused(scene: &Scene, tool: &str, arguments: Value) -> (Kind, String) {
    let error = scene.call(tool, arguments.clone()).await.expect_err(&arguments.to_string());
    (error.kind(), error.message().to_owned())
}

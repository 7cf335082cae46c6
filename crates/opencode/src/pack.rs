//! The pack: what all tools share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex;
use toolgate_core::{AnyTool, Offers, Pack, Result, RunHandle, Shelf};
use toolgate_host::{Secret, Tasks};
use toolgate_wire::Raw;

use crate::OpencodeConfig;
use crate::directory::Project;
use crate::server::{Link, Server};
use crate::turn::Queues;
use crate::{prompts, resources};

/// Tools that act on an OpenCode server.
pub struct Opencode {
    pub(crate) config: Arc<OpencodeConfig>,
    pub(crate) queues: Queues,
    /// Held while the configuration is changed and taken up: one change at a time.
    pub(crate) changes: Mutex<()>,
    server: Server,
    folder: PathBuf,
}

/// What the pack is told of the machine.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables of our environment.
    pub variables: Vec<(String, String)>,
    /// The password of the configured server, filled in.
    pub password: Option<Secret>,
    /// The folder we work in.
    pub folder: PathBuf,
    /// Where an OpenCode usually listens.
    pub usual_url: String,
}

impl Surroundings {
    /// Where an OpenCode listens unless it is told otherwise.
    pub const USUAL_URL: &str = "http://localhost:4096";
}

impl Opencode {
    /// Tools on the configured server; it is looked for, or started, when a tool first needs it.
    pub fn new(config: OpencodeConfig, around: Surroundings, tasks: &Tasks) -> Self {
        let config = Arc::new(config);
        let folder = around.folder.clone();
        Self {
            config: config.clone(),
            queues: Queues::default(),
            changes: Mutex::new(()),
            server: Server::new(config, around, tasks),
            folder,
        }
    }

    /// The server.
    pub(crate) async fn link(&self) -> Result<Arc<Link>> {
        self.server.link().await
    }

    /// The project that a call is about.
    pub(crate) fn project(&self, named: Option<&str>) -> Result<Project> {
        Project::find(named, self.config.default_project.as_deref(), &self.folder)
    }

    /// The project that a call is about where we ourselves read or write, or the call is to change nothing: ours, or a
    /// folder in it. OpenCode starts the programs that a folder's configuration names when it is asked about it.
    pub(crate) fn own_project(&self, named: Option<&str>) -> Result<Project> {
        let own = self.project(None)?;
        if named.is_none() { Ok(own) } else { self.project(named)?.within(&own) }
    }

    /// The configured model, where the agent has none of its own.
    pub(crate) fn default_model(&self, agent: Option<&Value>) -> Option<&str> {
        let has_own = agent.is_some_and(|agent| agent["model"].is_object());
        self.config.default_model.as_deref().filter(|_| !has_own)
    }

    /// How long OpenCode may be silent.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.config.timeout)
    }
}

impl Pack for Opencode {
    const NAME: &'static str = "opencode";

    fn tools() -> Vec<AnyTool<Self>> {
        crate::tools::all()
    }

    fn offers() -> Offers {
        Offers { tools: true, resources: true, prompts: true, ..Offers::default() }
    }

    fn attach(&self, shelf: Shelf) {
        shelf.update(|listing| {
            resources::list(listing);
            listing.prompts = prompts::listed();
        });
    }

    async fn read(&self, _: &RunHandle, uri: &str) -> Result<Raw> {
        self.resource(uri).await
    }

    async fn prompt(&self, _: &RunHandle, name: &str, arguments: Raw) -> Result<Raw> {
        prompts::get(name, &arguments)
    }
}

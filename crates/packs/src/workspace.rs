//! The pack `workspace`: the files of one folder, as tools and as resources.
//!
//! The folder is the configured one; else the first root of the client, if that is a program on this machine
//! that talks to us over stdio; else a folder of our own. A client over HTTP may be anywhere, and what it
//! calls its root is a path on *its* machine: it never chooses a folder of ours. A client that is attached by a
//! process of its own has its own workspace in the same way; only the list of resources is that of the hub.

mod choice;
mod config;
mod list;
mod read;
mod told;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use toolgate_core::{AnyTool, ListKind, Offers, Pack, Result, RunHandle, Shelf, Transport, tool};
use toolgate_host::{FileError, RelPath, Root, Tasks};
use toolgate_wire::Raw;

use crate::folder::CannotOpen;
use crate::resources::{Collection, Resources};
use choice::RootChoice;

pub use config::WorkspaceConfig;

/// Absolute paths begin with this name: `/workspace/notes.md` is `notes.md`.
const MOUNT: &str = "workspace";

const FILES: Collection = Collection {
    scheme: MOUNT,
    description: "A file of the workspace, by its path from the root.",
    holds: |_| true,
    large: "call `workspace_read` with `offset` and `length`",
};

/// The files of one folder. Clones are the same workspace.
#[derive(Debug, Clone)]
pub struct Workspace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: WorkspaceConfig,
    /// The file that this program is configured by.
    own_file: Option<PathBuf>,
    choice: RootChoice,
    resources: Resources,
}

impl Workspace {
    /// A workspace in the configured folder; without one, in the client's, or else in `fallback`, which is made
    /// when it is first needed. Wherever that is, `own_file` is not written: it is what this program obeys.
    pub fn new(
        config: WorkspaceConfig,
        fallback: PathBuf,
        own_file: Option<PathBuf>,
        tasks: &Tasks,
    ) -> Result<Self, CannotOpen> {
        let configured = config.root.as_deref().map(CannotOpen::or_open).transpose()?;
        let choice = RootChoice::new(configured, fallback);
        Ok(Self(Arc::new(Inner { config, own_file, choice, resources: Resources::new(FILES, tasks) })))
    }

    /// Forgets what the client told: it is asked again at its next call. Until then the old files stay listed.
    pub fn roots_changed(&self) {
        self.0.choice.forget();
    }

    /// The folder that this call works in; asks the client, if nobody has yet.
    async fn root(&self, run: &RunHandle) -> Result<Root> {
        let root = self.0.choice.settle(run).await?;
        if run.client().transport != Transport::Attached {
            self.0.resources.show(&root);
        }
        Ok(root)
    }

    fn config(&self) -> &WorkspaceConfig {
        &self.0.config
    }
}

impl Pack for Workspace {
    const NAME: &'static str = "workspace";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(read::WorkspaceRead), tool(write::WorkspaceWrite), tool(list::WorkspaceList)]
    }

    fn offers() -> Offers {
        Offers { tools: true, resources: true, ..Offers::default() }
    }

    fn attach(&self, shelf: Shelf) {
        self.0.resources.attach(shelf);
    }

    /// A list cannot ask the client: until a call has, it is that of the configured folder or our own.
    fn demand(&self, kind: ListKind) {
        if kind == ListKind::Resources {
            self.0.resources.demand(|| self.0.choice.now());
        }
    }

    fn roots_changed(&self) {
        Self::roots_changed(self);
    }

    async fn read(&self, run: &RunHandle, uri: &str) -> Result<Raw> {
        let root = self.root(run).await?;
        self.0.resources.read(&root, uri, self.config().max_read_bytes).await
    }

    fn watched(&self, uri: &str, watched: bool) -> Result<()> {
        self.0.resources.path(uri)?;
        if watched {
            self.demand(ListKind::Resources);
        }
        Ok(())
    }
}

/// Reads a path as callers write it.
fn path(text: &str) -> Result<RelPath, FileError> {
    RelPath::parse(text, MOUNT)
}

//! The pack `memory`: notes that outlive a conversation, in a folder of their own.
//!
//! The folder is not the workspace's: a workspace changes with the project, what is remembered does not, and
//! whoever may write files may not thereby write memories.

mod config;
mod file;
mod read;
mod write;

use std::path::PathBuf;

use toolgate_core::{AnyTool, ListKind, Offers, Pack, Result, RunHandle, Shelf, tool};
use toolgate_host::{Root, Tasks};
use toolgate_wire::Raw;

use crate::failure::Advice;
use crate::folder::OwnFolder;
use crate::resources::{Collection, Resources};

pub use config::MemoryConfig;

const FILES: Collection = Collection {
    scheme: "memory",
    description: "A memory file: MEMORY.md, SOUL.md, USER.md, or one under memory/.",
    holds: file::is_memory,
    large: LARGE,
};

const LARGE: &str = "keep less in one file, or raise `max_bytes` of the memory in the configuration";

const ADVICE: Advice = Advice { missing: "write it first with `memory_write`", large: LARGE };

/// Notes that outlive a conversation.
#[derive(Debug)]
pub struct Memory {
    config: MemoryConfig,
    folder: OwnFolder,
    resources: Resources,
}

impl Memory {
    /// Memories in the configured folder, else in `folder`; it is made when it is first needed.
    pub fn new(config: MemoryConfig, folder: PathBuf, tasks: &Tasks) -> Self {
        let folder = OwnFolder::new(config.root.clone().unwrap_or(folder));
        Self { config, folder, resources: Resources::new(FILES, tasks) }
    }

    fn root(&self) -> Result<Root> {
        self.folder.root()
    }
}

impl Pack for Memory {
    const NAME: &'static str = "memory";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(read::MemoryRead), tool(write::MemoryWrite)]
    }

    fn offers() -> Offers {
        Offers { tools: true, resources: true, ..Offers::default() }
    }

    fn attach(&self, shelf: Shelf) {
        self.resources.attach(shelf);
    }

    fn demand(&self, kind: ListKind) {
        if kind == ListKind::Resources {
            self.resources.demand(|| self.root());
        }
    }

    async fn read(&self, _: &RunHandle, uri: &str) -> Result<Raw> {
        self.resources.read(&self.root()?, uri, self.config.max_bytes).await
    }

    fn watched(&self, uri: &str, watched: bool) -> Result<()> {
        self.resources.path(uri)?;
        if watched {
            self.demand(ListKind::Resources);
        }
        Ok(())
    }
}

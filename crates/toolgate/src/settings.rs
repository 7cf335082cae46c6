//! Everything that is configured.

mod change;
mod keys;
mod source;
mod watch;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_config::LogConfig;
use toolgate_front::http::HttpConfig;
use toolgate_packs::memory::MemoryConfig;
use toolgate_packs::workspace::WorkspaceConfig;

pub(crate) use source::{Loaded, Sources, check};
pub(crate) use watch::{Reloaded, Reloader, watch};

use crate::cli::Cli;

/// How `serve` speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Over standard input and output.
    #[default]
    Stdio,
    /// Over HTTP.
    Http,
}

/// A pack that can be switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackName {
    /// Files of the workspace.
    Workspace,
    /// What an agent remembers.
    Memory,
}

/// How answers of built-in tools are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputConfig {
    /// Write JSON texts without indentation.
    pub(crate) compact: bool,
}

/// Everything that is configured. `keys.rs` lists what of it can be written in a file, once.
#[derive(Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) transport: Transport,
    pub(crate) packs: Vec<PackName>,
    pub(crate) http: HttpConfig,
    pub(crate) log: LogConfig,
    pub(crate) output: OutputConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) memory: MemoryConfig,
    pub(crate) data_dir: PathBuf,
    /// Our file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// The files whose change may change the settings.
    pub(crate) looked_for: Vec<PathBuf>,
    pub(crate) warnings: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            packs: vec![PackName::Workspace, PackName::Memory],
            http: HttpConfig::default(),
            log: LogConfig::default(),
            output: OutputConfig::default(),
            workspace: WorkspaceConfig::default(),
            memory: MemoryConfig::default(),
            data_dir: PathBuf::new(),
            file: None,
            looked_for: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Reads files, environment and flags.
pub(crate) fn load(cli: &Cli) -> anyhow::Result<Settings> {
    Ok(Sources::of(cli)?.load()?.settings)
}

//! Everything that is configured, read once at the start.

use std::path::PathBuf;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_config::{Loader, LogConfig, data_dir, process_environment, user_config_dir};
use toolgate_front::http::HttpConfig;
use toolgate_packs::memory::MemoryConfig;
use toolgate_packs::workspace::WorkspaceConfig;

use crate::cli::{Cli, Command};

/// How `serve` speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Over standard input and output.
    #[default]
    Stdio,
    /// Over HTTP.
    Http,
}

/// A pack that can be switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackName {
    /// Files of the workspace.
    Workspace,
    /// What an agent remembers.
    Memory,
}

/// How answers of built-in tools are written.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputConfig {
    /// Write JSON texts without indentation.
    pub(crate) compact: bool,
}

/// Everything that is configured.
pub(crate) struct Settings {
    pub(crate) transport: Transport,
    pub(crate) packs: Vec<PackName>,
    pub(crate) http: HttpConfig,
    pub(crate) log: LogConfig,
    pub(crate) output: OutputConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) memory: MemoryConfig,
    pub(crate) data_dir: PathBuf,
    pub(crate) file: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
}

/// Reads file, environment and flags.
pub(crate) fn load(cli: &Cli) -> anyhow::Result<Settings> {
    let environment = process_environment();
    let here = std::env::current_dir().context("the working folder cannot be read")?;
    let mut loader = Loader::new()
        .file(cli.global.config.clone())
        .discover(&here, user_config_dir(&environment).as_deref())
        .environment(&environment)
        .flag("log.level", cli.global.log_level.map(|level| level.as_str()), "--log-level")
        .flag(
            "workspace.root",
            cli.global.workspace.as_ref().map(|dir| dir.to_string_lossy()),
            "--workspace",
        );
    if let Command::Serve(serve) = &cli.command {
        loader = loader
            .flag("transport", serve.http.then_some("http"), "--http")
            .flag("http.bind", serve.host.clone(), "--host")
            .flag("http.port", serve.port, "--port");
    }
    let document = loader.load()?;
    let mut settings = document.read(|sections| Settings {
        transport: sections.value("transport").unwrap_or_default(),
        packs: sections.value("packs").unwrap_or_else(|| vec![PackName::Workspace, PackName::Memory]),
        http: sections.section("http"),
        log: sections.section("log"),
        output: sections.section("output"),
        workspace: sections.section("workspace"),
        memory: sections.section("memory"),
        data_dir: sections.value("data_dir").unwrap_or_default(),
        file: document.file().map(Into::into),
        warnings: document.warnings().iter().map(ToString::to_string).collect(),
    })?;
    if settings.data_dir.as_os_str().is_empty() {
        settings.data_dir = data_dir(&environment)?;
    }
    for (key, root) in
        [("workspace.root", &mut settings.workspace.root), ("memory.root", &mut settings.memory.root)]
    {
        *root = root.take().map(|path| document.resolve(key, &path));
    }
    Ok(settings)
}

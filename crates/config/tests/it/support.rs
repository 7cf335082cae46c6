//! A program with two components, and a way to give it a configuration.

use std::collections::BTreeMap;
use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use toolgate_config::{ConfigError, Document, Environment, Loader, LogConfig, Sections};

/// As the component that serves HTTP would have it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Http {
    /// The address to listen on.
    pub(crate) bind: String,
    /// The port to listen on.
    pub(crate) port: u16,
    /// Origins that may call.
    pub(crate) cors_origins: Vec<String>,
    /// Limits.
    pub(crate) limits: Limits,
}

impl Default for Http {
    fn default() -> Self {
        Self { bind: "127.0.0.1".into(), port: 3000, cors_origins: Vec::new(), limits: Limits::default() }
    }
}

/// A table in a table.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Bytes of a body.
    pub(crate) body: u64,
    /// Seconds for a header.
    pub(crate) seconds: f64,
}

/// A server as in `[mcp.NAME]`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    /// The program.
    pub(crate) command: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Headers of each request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// A secret.
    #[serde(default)]
    pub(crate) token: Option<u8>,
    /// An address.
    #[serde(default)]
    pub(crate) retries: Option<u8>,
}

/// How to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Over standard input and output.
    Stdio,
    /// Over HTTP.
    Http,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) transport: Option<Transport>,
    pub(crate) packs: Option<Vec<String>>,
    pub(crate) http: Http,
    pub(crate) log: LogConfig,
    pub(crate) mcp: BTreeMap<String, Server>,
}

pub(crate) fn settings(sections: &mut Sections<'_>) -> Settings {
    Settings {
        transport: sections.value("transport"),
        packs: sections.value("packs"),
        http: sections.section("http"),
        log: sections.section("log"),
        mcp: sections.section("mcp"),
    }
}

/// A folder with a `toolgate.toml` of these bytes.
pub(crate) fn folder(bytes: impl AsRef<[u8]>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toolgate.toml"), bytes).unwrap();
    folder
}

pub(crate) fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().copied().collect()
}

pub(crate) fn load(folder: &TempDir, variables: &[(&str, &str)]) -> Result<Document, ConfigError> {
    Loader::new().discover(folder.path(), None).environment(&environment(variables)).load()
}

/// The settings of a file and variables.
pub(crate) fn read(text: impl AsRef<[u8]>, variables: &[(&str, &str)]) -> Result<Settings, String> {
    let folder = folder(text);
    let result = load(&folder, variables).and_then(|document| document.read(settings));
    result.map_err(|error| in_folder(&error, &folder))
}

/// What is wrong with a file and variables, with the folder's name left out.
#[track_caller]
pub(crate) fn refusal(text: impl AsRef<[u8]>, variables: &[(&str, &str)]) -> String {
    read(text, variables).unwrap_err()
}

pub(crate) fn in_folder(error: &ConfigError, folder: &TempDir) -> String {
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

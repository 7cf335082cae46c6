//! What the tools have in common that change OpenCode's MCP servers.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolgate_core::{Error, Kind, Result};

use super::text;
use crate::hidden::hidden_words;
use crate::pack::Opencode;
use crate::server::Link;
use crate::settings::{Change, Scope};

/// How a server stands.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Standing {
    /// The name of the server.
    pub(super) name: String,
    /// How it stands now: connected, disabled, failed, removed and so on.
    pub(super) status: String,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) error: String,
    /// The file it is written in, or was; none for one that was there only for the moment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) file: String,
}

/// Why a server failed. OpenCode repeats the address, and that may hold a key.
pub(super) fn error(standing: &Value) -> String {
    hidden_words(&text(&standing["error"]))
}

/// There is no server of this name.
pub(super) fn unknown(name: &str) -> Error {
    Error::new(Kind::Upstream, format!("OpenCode has no MCP server `{name}`"))
        .hint("call `opencode_mcp_list` to see the servers")
}

/// Where a server stands in the configuration.
pub(super) fn path(name: &str) -> Vec<String> {
    vec!["mcp".to_owned(), name.to_owned()]
}

/// For whom a change of a server counts: for those it is written for, unless that is said.
pub(super) async fn where_written(said: Option<Scope>, project: &Path, name: &str) -> Result<Scope> {
    match said {
        Some(scope) => Ok(scope),
        None => Scope::of(project, &path(name)).await,
    }
}

/// Makes a change, and tells how the server stands then.
pub(super) async fn changed(
    pack: &Opencode,
    link: &Link,
    change: Change<'_>,
    name: String,
) -> Result<Standing> {
    let project = change.project;
    let file = pack.change(link, change).await?.file;
    standing(link, project, name, file).await
}

/// How a server stands now, as OpenCode tells.
pub(super) async fn standing(link: &Link, project: &Path, name: String, file: String) -> Result<Standing> {
    let all = link.client().get(&["mcp"]).within(project).send().await?;
    let standing = &all[&name];
    let status = if standing.is_null() { "removed".to_owned() } else { text(&standing["status"]) };
    Ok(Standing { status, error: error(standing), file, name })
}

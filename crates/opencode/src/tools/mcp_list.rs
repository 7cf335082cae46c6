//! `opencode_mcp_list`: the MCP servers of OpenCode.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::mcp_servers::error;
use super::{InProject, text};
use crate::pack::Opencode;

pub(super) struct McpList;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The servers.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The name of the server.
    name: String,
    /// How it stands: connected, disabled, failed, needs_auth or needs_client_registration.
    status: String,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    error: String,
    /// How it is reached: local or remote.
    #[serde(rename = "type")]
    kind: String,
    /// Whether it is written in OpenCode's configuration, and so outlives a restart.
    configured: bool,
}

impl Tool<Opencode> for McpList {
    type Input = InProject;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_mcp_list",
        title: "List MCP servers",
        description: "List the MCP servers of OpenCode, and how they stand.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: InProject) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let all = link.client().get(&["mcp"]).within(&project.path).send().await?;
        let config = link.client().get(&["config"]).within(&project.path).send().await?;
        let item = |(name, status): (&String, &serde_json::Value)| Item {
            name: name.clone(),
            status: text(&status["status"]),
            error: error(status),
            kind: text(&config["mcp"][name]["type"]),
            configured: config["mcp"][name].is_object(),
        };
        Ok(Json(Output { items: all.as_object().into_iter().flatten().map(item).collect() }))
    }
}

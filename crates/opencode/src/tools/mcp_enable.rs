//! `opencode_mcp_enable`: switch an MCP server of OpenCode on or off.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::mcp_servers::{Standing, changed, path, unknown, where_written};
use crate::pack::Opencode;
use crate::settings::{Change, Scope};

pub(super) struct McpEnable;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The name of the server, as `opencode_mcp_list` shows it.
    name: String,
    /// Whether it is to be on.
    enabled: bool,
    /// For whom it counts: all projects (global), or this one (project); by default where the server is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("enum" = ["project", "global"]))]
    scope: Option<Scope>,
    /// Whether sessions that work now may be stopped by it.
    #[serde(default)]
    force: bool,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

impl Tool<Opencode> for McpEnable {
    type Input = Input;
    type Output = Json<Standing>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_mcp_enable",
        title: "Switch an MCP server",
        description: "Switch an MCP server of OpenCode on or off, now and for good.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Standing>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let known = link.client().get(&["config"]).within(&project.path).send().await?;
        if !known["mcp"][&input.name].is_object() {
            return Err(unknown(&input.name));
        }
        let enabled = path(&input.name).into_iter().chain(["enabled".to_owned()]).collect();
        let keys = vec![(enabled, Some(input.enabled.into()))];
        let (scope, force) = (where_written(input.scope, &project.path, &input.name).await?, input.force);
        let change = Change { scope, project: &project.path, keys, rules: None, force };
        changed(pack, &link, change, input.name).await.map(Json)
    }
}

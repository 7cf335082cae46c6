//! `opencode_mcp_remove`: one MCP server less for OpenCode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Opencode;
use crate::settings::{Change, Scope};

pub(super) struct McpRemove;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The name of the server, as `opencode_mcp_list` shows it.
    name: String,
    /// For whom it counts: all projects (global), or this one (project).
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["project", "global"]))]
    scope: Scope,
    /// Whether sessions that work now may be stopped by it.
    #[serde(default)]
    force: bool,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The name of the server.
    name: String,
    /// How it stands now: connected, disabled, failed, removed and so on.
    status: String,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    error: String,
    /// The file it is written in.
    file: String,
}

impl Tool<Opencode> for McpRemove {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_mcp_remove",
        title: "Remove an MCP server",
        description: "Remove an MCP server from OpenCode, now and for good.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let known = link.client().get(&["mcp"]).within(&project.path).send().await?;
        if !known[&input.name].is_object() {
            return Err(Error::new(Kind::Upstream, format!("OpenCode has no MCP server `{}`", input.name))
                .hint("call `opencode_mcp_list` to see the servers"));
        }
        let keys = vec![(vec!["mcp".into(), input.name.clone()], None)];
        let change = Change { scope: input.scope, project: &project.path, keys, force: input.force };
        let file = pack.change(&link, change).await?;
        let now = link.client().get(&["mcp"]).within(&project.path).send().await?;
        if now[&input.name].is_object() {
            let words = format!("`{}` is taken out of the file, but OpenCode still has it", input.name);
            return Err(Error::new(Kind::Upstream, words).hint("it may be in the other scope: set `scope`"));
        }
        let file = file.to_string_lossy().into_owned();
        Ok(Json(Output { name: input.name, status: "removed".into(), error: String::new(), file }))
    }
}

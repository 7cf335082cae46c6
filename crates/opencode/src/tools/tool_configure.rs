//! `opencode_tool_configure`: which tools OpenCode gives its models.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use crate::agents::agent;
use crate::pack::Opencode;
use crate::settings::{Change, Scope};

pub(super) struct ToolConfigure;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Whether each tool is on, by its name or a pattern with `*`.
    tools: BTreeMap<String, bool>,
    /// The agent that it counts for; by default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    agent: Option<String>,
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
    /// What was changed, and is so now as OpenCode tells.
    changed: Vec<String>,
    /// The file it is written in.
    file: String,
}

impl Tool<Opencode> for ToolConfigure {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_tool_configure",
        title: "Configure tools",
        description: "Switch tools of OpenCode on or off.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let mut before = Vec::new();
        if let Some(name) = &input.agent {
            agent(link.client(), &project.path, name).await?;
            before.extend(["agent".to_owned(), name.clone()]);
        }
        let path = |tool: &String| before.iter().cloned().chain(["tools".to_owned(), tool.clone()]).collect();
        let keys: Vec<_> = input.tools.iter().map(|(tool, on)| (path(tool), Some((*on).into()))).collect();
        let changed = keys.iter().map(|(path, _): &(Vec<String>, _)| path.join(".")).collect();
        let change = Change { scope: input.scope, project: &project.path, keys, force: input.force };
        let file = pack.change(&link, change).await?.to_string_lossy().into_owned();
        Ok(Json(Output { changed, file }))
    }
}

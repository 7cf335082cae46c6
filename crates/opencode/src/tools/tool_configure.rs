//! `opencode_tool_configure`: which tools OpenCode gives its models.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::agents::path_of;
use crate::pack::Opencode;
use crate::settings::{Change, Changed, Rules, Scope};

pub(super) struct ToolConfigure;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Whether each tool is on, by its name or a pattern with `*`.
    #[schemars(extend("minProperties" = 1))]
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

impl Tool<Opencode> for ToolConfigure {
    type Input = Input;
    type Output = Json<Changed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_tool_configure",
        title: "Configure tools",
        description: "Switch tools of OpenCode on or off.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Changed>> {
        if input.tools.keys().all(|tool| tool.trim().is_empty()) {
            let words = "`tools` names none, expected which are on and which are off";
            return Err(Error::new(Kind::InvalidInput, words)
                .hint("give them as in `{\"webfetch\": false}`; `opencode_tool_list` shows the tools"));
        }
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let above = path_of(link.client(), &project.path, input.agent.as_deref()).await?;
        let path = |tool| above.iter().copied().chain(["tools", tool]).map(Into::into).collect();
        let keys = input.tools.iter().map(|(tool, on)| (path(tool), Some((*on).into()))).collect();
        let wanted = input.tools.iter().map(|(tool, on)| (tool.as_str(), if *on { "allow" } else { "deny" }));
        let wanted = wanted.collect();
        let rules = Some(Rules { agent: input.agent.as_deref(), wanted });
        let change = Change { scope: input.scope, project: &project.path, keys, rules, force: input.force };
        pack.change(&link, change).await.map(Json)
    }
}

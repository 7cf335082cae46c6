//! `opencode_permission_set`: what OpenCode may do without asking.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::agents::path_of;
use crate::pack::Opencode;
use crate::settings::{Change, Changed, Rules, Scope};

pub(super) struct PermissionSet;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The tool or permission, such as `bash` or `edit`.
    tool: String,
    /// What it may: do it (allow), ask first (ask), or not at all (deny).
    #[schemars(extend("enum" = ["allow", "ask", "deny"]))]
    permission: String,
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

impl Tool<Opencode> for PermissionSet {
    type Input = Input;
    type Output = Json<Changed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_permission_set",
        title: "Set a permission",
        description: "Say what OpenCode may do, must ask for, or may not do.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Changed>> {
        if !["allow", "ask", "deny"].contains(&input.permission.as_str()) {
            let words = format!("`permission` is `{}`, expected `allow`, `ask` or `deny`", input.permission);
            return Err(Error::new(Kind::InvalidInput, words).hint("choose one of them"));
        }
        if input.tool.trim().is_empty() {
            return Err(Error::new(Kind::InvalidInput, "`tool` is empty, expected what it is about")
                .hint("name a tool such as `bash`; `opencode_tool_list` shows them"));
        }
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let above = path_of(link.client(), &project.path, input.agent.as_deref()).await?;
        let path = above.into_iter().chain(["permission", &input.tool]).map(Into::into).collect();
        let keys = vec![(path, Some(input.permission.as_str().into()))];
        let wanted = vec![(input.tool.as_str(), input.permission.as_str())];
        let rules = Some(Rules { agent: input.agent.as_deref(), wanted });
        let change = Change { scope: input.scope, project: &project.path, keys, rules, force: input.force };
        pack.change(&link, change).await.map(Json)
    }
}

//! `opencode_permission_set`: what OpenCode may do without asking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::agents::agent;
use crate::pack::Opencode;
use crate::settings::{Change, Scope};

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

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// What was changed, and is so now as OpenCode tells.
    changed: Vec<String>,
    /// The file it is written in.
    file: String,
}

impl Tool<Opencode> for PermissionSet {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_permission_set",
        title: "Set a permission",
        description: "Say what OpenCode may do, must ask for, or may not do.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        if !["allow", "ask", "deny"].contains(&input.permission.as_str()) {
            let words = format!("`permission` is `{}`, expected `allow`, `ask` or `deny`", input.permission);
            return Err(Error::new(Kind::InvalidInput, words).hint("choose one of them"));
        }
        let project = pack.project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let mut path = Vec::new();
        if let Some(name) = &input.agent {
            agent(link.client(), &project.path, name).await?;
            path.extend(["agent".to_owned(), name.clone()]);
        }
        path.extend(["permission".to_owned(), input.tool.clone()]);
        let keys = vec![(path, Some(input.permission.as_str().into()))];
        let changed = keys.iter().map(|(path, _): &(Vec<String>, _)| path.join(".")).collect();
        let change = Change { scope: input.scope, project: &project.path, keys, force: input.force };
        let file = pack.change(&link, change).await?.to_string_lossy().into_owned();
        Ok(Json(Output { changed, file }))
    }
}

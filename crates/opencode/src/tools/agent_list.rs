//! `opencode_agent_list`: the agents that work can be given to.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{InProject, text};
use crate::agents::agents;
use crate::pack::Opencode;

pub(super) struct AgentList;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The agents.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    /// Its name, for the other tools.
    name: String,
    /// What it is for.
    description: String,
    /// Who uses it: people (primary), other agents (subagent), or both (all).
    mode: String,
    /// Whether it comes with OpenCode.
    native: bool,
    /// Its own model, as `provider/model`, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
}

impl Tool<Opencode> for AgentList {
    type Input = InProject;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_agent_list",
        title: "List agents",
        description: "List the agents of OpenCode that work can be given to.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: InProject) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let agents = agents(link.client(), &project.path).await?;
        let item = |agent: &serde_json::Value| {
            let model = &agent["model"];
            Item {
                name: text(&agent["name"]),
                description: text(&agent["description"]),
                mode: text(&agent["mode"]),
                native: agent["native"] == true,
                model: match model["modelID"].as_str() {
                    Some(id) => format!("{}/{id}", text(&model["providerID"])),
                    None => String::new(),
                },
            }
        };
        Ok(Json(Output { items: agents.iter().map(item).collect() }))
    }
}

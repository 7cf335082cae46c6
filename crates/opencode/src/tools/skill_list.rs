//! `opencode_skill_list`: the skills of OpenCode.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{InProject, text};
use crate::pack::Opencode;

pub(super) struct SkillList;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The skills.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The name of the skill, for `opencode_skill_load`.
    name: String,
    /// What it is for.
    description: String,
    /// The file it is in.
    location: String,
}

impl Tool<Opencode> for SkillList {
    type Input = InProject;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_skill_list",
        title: "List skills",
        description: "List the skills that OpenCode has in a project.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: InProject) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let skills = link.client().get(&["skill"]).within(&project.path).send().await?;
        let item = |skill: &serde_json::Value| Item {
            name: text(&skill["name"]),
            description: text(&skill["description"]),
            location: text(&skill["location"]),
        };
        Ok(Json(Output { items: skills.as_array().into_iter().flatten().map(item).collect() }))
    }
}

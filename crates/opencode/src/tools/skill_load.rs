//! `opencode_skill_load`: the text of a skill.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::{list, text};
use crate::model::nearest;
use crate::pack::Opencode;

pub(super) struct SkillLoad;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The name of the skill, as `opencode_skill_list` shows it.
    name: String,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The name of the skill.
    name: String,
    /// What it is for.
    description: String,
    /// The file it is in.
    location: String,
    /// What it says, without its header.
    content: String,
}

impl Tool<Opencode> for SkillLoad {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_skill_load",
        title: "Load a skill",
        description: "Read one of OpenCode's skills.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let skills = link.client().get(&["skill"]).within(&project.path).send().await?;
        let skills = list(&skills);
        let Some(skill) = skills.iter().find(|skill| skill["name"] == input.name.as_str()) else {
            let near = nearest(&input.name, skills.iter().filter_map(|skill| skill["name"].as_str()));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`? `opencode_skill_list` shows the skills"),
                None => "call `opencode_skill_list` to see the skills".to_owned(),
            };
            return Err(
                Error::new(Kind::SkillNotFound, format!("OpenCode has no skill `{}`", input.name)).hint(hint)
            );
        };
        Ok(Json(Output {
            name: text(&skill["name"]),
            description: text(&skill["description"]),
            location: text(&skill["location"]),
            content: text(&skill["content"]),
        }))
    }
}

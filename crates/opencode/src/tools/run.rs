//! `opencode_run`: hand a piece of work to OpenCode in a session of its own.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::prompting::{Asking, Output, Place, checked, prompt};
use crate::pack::Opencode;

pub(super) struct Run;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What OpenCode is to do.
    prompt: String,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
    /// The model, as `provider/model`; by default that of the agent, else the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// The agent that does it; by default OpenCode's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    agent: Option<String>,
    /// Files of the project to attach, by their paths from its root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Whether only to note the prompt, without asking the model.
    #[serde(default)]
    no_reply: bool,
}

impl Tool<Opencode> for Run {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_run",
        title: "Run OpenCode",
        description: "Hand a piece of work to OpenCode in a new session, and wait for what comes of it.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let asking = Asking {
            prompt: &input.prompt,
            files: &input.files,
            model: input.model.as_deref(),
            agent: input.agent.as_deref(),
            no_reply: input.no_reply,
            is_part: false,
            is_new: true,
        };
        let (parts, model) = checked(pack, &link, &project.path, &asking).await?;
        let place = Place::new(&link, project, Map::new()).await?;
        prompt(pack, &link, run, (place, asking, parts, model)).await.map(Json)
    }
}

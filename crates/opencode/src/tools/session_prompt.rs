//! `opencode_session_prompt`: go on in a session.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::prompting::{Asking, Output, Place, checked, prompt};
use crate::pack::Opencode;

pub(super) struct SessionPrompt;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The id of the session, as `opencode_session_list` shows it.
    session_id: String,
    /// What OpenCode is to do.
    prompt: String,
    /// Files of the project to attach, by their paths from its root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// The model, as `provider/model`; by default that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// The agent that does it; by default that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    agent: Option<String>,
    /// Whether only to note the prompt, without asking the model.
    #[serde(default)]
    no_reply: bool,
}

impl Tool<Opencode> for SessionPrompt {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_session_prompt",
        title: "Prompt a session",
        description: "Send a prompt to a session of OpenCode, and wait for its own reply.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let link = pack.link().await?;
        let place = Place::existing(&link, &input.session_id).await?;
        let asking = Asking {
            prompt: &input.prompt,
            files: &input.files,
            model: input.model.as_deref(),
            agent: input.agent.as_deref(),
            no_reply: input.no_reply,
            is_part: false,
            is_new: false,
        };
        let (parts, model) = checked(pack, &link, &place.folder, &asking).await?;
        prompt(pack, &link, run, (place, asking, parts, model)).await.map(Json)
    }
}

//! `opencode_agent_delegate`: give a piece of work to one of OpenCode's agents.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::prompting::{Asking, Output, Place, checked, prompt};
use crate::agents::agent;
use crate::pack::Opencode;

/// How much of a prompt becomes the description of a piece of work.
const WORDS: usize = 6;

pub(super) struct AgentDelegate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The agent, as `opencode_agent_list` shows it.
    agent: String,
    /// What it is to do.
    prompt: String,
    /// The session to do it in; by default a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    session_id: Option<String>,
    /// The model, as `provider/model`; by default that of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// The absolute path of the project of a new session; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

impl Tool<Opencode> for AgentDelegate {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_agent_delegate",
        title: "Delegate to an agent",
        description: "Give a piece of work to one of OpenCode's agents, and wait for what comes of it.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let link = pack.link().await?;
        let existing = match &input.session_id {
            Some(id) => Some(Place::existing(&link, id).await?),
            None => None,
        };
        let project = match &existing {
            Some(place) => place.project.clone(),
            None => pack.project(input.working_directory.as_deref())?,
        };
        let known = agent(link.client(), &project.path, &input.agent).await?;
        // An agent for other agents does not take prompts itself: it gets its work as a part of one.
        let is_helper = known["mode"] == "subagent";
        let asking = Asking {
            prompt: &input.prompt,
            files: &[],
            model: input.model.as_deref(),
            agent: Some(input.agent.as_str()).filter(|_| !is_helper),
            no_reply: false,
            is_part: is_helper,
            is_new: existing.is_none(),
        };
        let (parts, model) = checked(pack, &link, &project.path, &asking).await?;
        let parts = if is_helper { vec![subtask(&input)] } else { parts };
        let place = match existing {
            Some(place) => place,
            None => Place::new(&link, project, Map::new()).await?,
        };
        prompt(pack, &link, run, (place, asking, parts, model)).await.map(Json)
    }
}

fn subtask(input: &Input) -> Value {
    let words: Vec<&str> = input.prompt.split_whitespace().take(WORDS).collect();
    json!({"type": "subtask", "agent": input.agent, "prompt": input.prompt, "description": words.join(" ")})
}

//! `opencode_session_create`: make a session to prompt later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{session, text};
use crate::agents::agent;
use crate::directory::DirectorySource;
use crate::model::Model;
use crate::pack::Opencode;
use crate::tools::prompting::Place;

pub(super) struct SessionCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
    /// What it is called; by default OpenCode finds a title by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    title: Option<String>,
    /// Its model, as `provider/model`; by default that of the agent, else the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// Its agent; by default OpenCode's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    agent: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The id of the new session.
    session_id: String,
    /// What it is called.
    title: String,
    /// The project of this call.
    working_directory: String,
    /// How the project was chosen: explicit, env, detected or fallback.
    #[schemars(with = "String")]
    directory_source: DirectorySource,
    /// The folder that it works in.
    session_directory: String,
}

impl Tool<Opencode> for SessionCreate {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_session_create",
        title: "Create a session",
        description: "Make a session of OpenCode, to be prompted later.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let mut options = Map::new();
        if let Some(title) = input.title {
            options.insert("title".into(), title.into());
        }
        let agent = match &input.agent {
            Some(name) => Some(agent(link.client(), &project.path, name).await?),
            None => None,
        };
        let model = input.model.as_deref().or(pack.default_model(agent.as_ref()));
        if let Some(model) = model.map(Model::parse).transpose()? {
            model.check(link.client(), &project.path).await?;
            options.insert("model".into(), model.of_session());
        }
        if let Some(name) = input.agent {
            options.insert("agent".into(), name.into());
        }
        let place = Place::new(&link, project, options).await?;
        let info = session(link.client(), &place.id).await?;
        Ok(Json(Output {
            title: text(&info["title"]),
            working_directory: place.project.path.to_string_lossy().into_owned(),
            directory_source: place.project.source,
            session_directory: place.folder.to_string_lossy().into_owned(),
            session_id: place.id,
        }))
    }
}

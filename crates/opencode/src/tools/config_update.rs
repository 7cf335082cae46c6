//! `opencode_config_update`: change OpenCode's models and its agent.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::agents::agent;
use crate::model::Model;
use crate::pack::Opencode;
use crate::settings::{Change, Changed, Scope};

pub(super) struct ConfigUpdate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The model of prompts that name none, as `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// The model of small tasks such as titles, as `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    small_model: Option<String>,
    /// The agent of prompts that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    default_agent: Option<String>,
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

impl Tool<Opencode> for ConfigUpdate {
    type Input = Input;
    type Output = Json<Changed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_config_update",
        title: "Update configuration",
        description: "Change the models and the agent that OpenCode uses by default.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Changed>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let mut keys = Vec::new();
        for (key, model) in [("model", &input.model), ("small_model", &input.small_model)] {
            let Some(model) = model else { continue };
            Model::parse(model)?.check(link.client(), &project.path).await?;
            keys.push((vec![key.to_owned()], Some(model.as_str().into())));
        }
        if let Some(name) = &input.default_agent {
            agent(link.client(), &project.path, name).await?;
            keys.push((vec!["default_agent".to_owned()], Some(name.as_str().into())));
        }
        if keys.is_empty() {
            return Err(Error::new(
                Kind::InvalidInput,
                "nothing is to be changed: all of the fields are missing",
            )
            .hint("give `model`, `smallModel` or `defaultAgent`"));
        }
        let change =
            Change { scope: input.scope, project: &project.path, keys, rules: None, force: input.force };
        pack.change(&link, change).await.map(Json)
    }
}

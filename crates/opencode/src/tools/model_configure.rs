//! `opencode_model_configure`: the options of a model.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::model::Model;
use crate::pack::Opencode;
use crate::settings::{Change, Changed, Scope};

pub(super) struct ModelConfigure;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The provider of the model.
    provider: String,
    /// The model, without its provider.
    model: String,
    /// Its options, by name.
    #[schemars(extend("minProperties" = 1))]
    options: Map<String, Value>,
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

impl Tool<Opencode> for ModelConfigure {
    type Input = Input;
    type Output = Json<Changed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_model_configure",
        title: "Configure a model",
        description: "Change the options that OpenCode gives to a model.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Changed>> {
        if input.options.is_empty() {
            return Err(Error::new(Kind::InvalidInput, "`options` is empty, expected what is to be changed")
                .hint("give them as in `{\"temperature\": 0.5}`"));
        }
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let model = Model { provider: input.provider.clone(), model: input.model.clone() };
        model.check(link.client(), &project.path).await?;
        let path = |option: &str| {
            ["provider", &input.provider, "models", &input.model, "options", option].map(Into::into).to_vec()
        };
        let keys = input.options.iter().map(|(option, value)| (path(option), Some(value.clone()))).collect();
        let change =
            Change { scope: input.scope, project: &project.path, keys, rules: None, force: input.force };
        pack.change(&link, change).await.map(Json)
    }
}

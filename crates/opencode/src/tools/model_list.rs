//! `opencode_model_list`: the models that OpenCode can use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::{list, text};
use crate::pack::Opencode;
use crate::settings::{Scope, quiet, reload};

pub(super) struct ModelList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Only the models of this provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    provider: Option<String>,
    /// Whether OpenCode is to read its configuration again first, unless sessions work.
    #[serde(default)]
    refresh: bool,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The models.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The model, as `provider/model`.
    model: String,
    /// The name of the model, for people.
    name: String,
    /// How many tokens it takes.
    context: u64,
    /// How many tokens it gives.
    output: u64,
    /// Whether it is what its provider's prompts use by default.
    default: bool,
}

impl Tool<Opencode> for ModelList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_model_list",
        title: "List models",
        description: "List the models that OpenCode is configured for.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        if input.refresh {
            quiet(&link, Scope::Project, &project.path).await?;
            reload(&link, Scope::Project, &project.path).await?;
        }
        let known = link.client().get(&["config", "providers"]).within(&project.path).send().await?;
        let all = list(&known["providers"]);
        let wanted = |provider: &&serde_json::Value| {
            input.provider.as_deref().is_none_or(|wanted| provider["id"] == wanted)
        };
        let providers: Vec<_> = all.iter().filter(wanted).collect();
        if let (Some(wanted), true) = (&input.provider, providers.is_empty()) {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("`provider` is `{wanted}`, which OpenCode has not"),
            )
            .hint("call `opencode_provider_list` to see the providers"));
        }
        let mut items = Vec::new();
        for provider in providers {
            let id = text(&provider["id"]);
            for (model, about) in provider["models"].as_object().into_iter().flatten() {
                items.push(Item {
                    model: format!("{id}/{model}"),
                    name: text(&about["name"]),
                    context: about["limit"]["context"].as_u64().unwrap_or(0),
                    output: about["limit"]["output"].as_u64().unwrap_or(0),
                    default: known["default"][&id] == model.as_str(),
                });
            }
        }
        Ok(Json(Output { items }))
    }
}

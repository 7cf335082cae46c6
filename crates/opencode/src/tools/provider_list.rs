//! `opencode_provider_list`: the providers of models that OpenCode knows.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{InProject, list, text};
use crate::pack::Opencode;

pub(super) struct ProviderList;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The providers, those that can be used first.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The id of the provider.
    id: String,
    /// The name of the provider, for people.
    name: String,
    /// Whether OpenCode has what it needs to use it.
    connected: bool,
    /// How many models it has.
    models: usize,
    /// The model that is used by default.
    default: String,
    /// The variables that may hold its key.
    env: Vec<String>,
}

impl Tool<Opencode> for ProviderList {
    type Input = InProject;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_provider_list",
        title: "List providers",
        description: "List the providers of models that OpenCode knows, and which can be used.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: InProject) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let known = link.client().get(&["provider"]).within(&project.path).send().await?;
        let connected = list(&known["connected"]);
        let item = |provider: &serde_json::Value| {
            let id = text(&provider["id"]);
            Item {
                name: text(&provider["name"]),
                connected: connected.contains(&provider["id"]),
                models: provider["models"].as_object().map_or(0, serde_json::Map::len),
                default: text(&known["default"][&id]),
                env: provider["env"].as_array().into_iter().flatten().map(text).collect(),
                id,
            }
        };
        let mut items: Vec<Item> = known["all"].as_array().into_iter().flatten().map(item).collect();
        items.sort_by(|a, b| (b.connected, &a.id).cmp(&(a.connected, &b.id)));
        Ok(Json(Output { items }))
    }
}

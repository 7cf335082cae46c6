//! `opencode_tool_list`: the tools that OpenCode gives its models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::text;
use crate::pack::Opencode;

pub(super) struct ToolList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Show what the models of this provider get; goes with `model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    provider: Option<String>,
    /// Show what this model gets; goes with `provider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    model: Option<String>,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The tools; those of MCP servers are not among them.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The name of the tool.
    name: String,
    /// What it does, if a model was named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
}

impl Tool<Opencode> for ToolList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_tool_list",
        title: "List tools",
        description: "List the tools that OpenCode gives its models.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let client = link.client();
        let items = match (&input.provider, &input.model) {
            (None, None) => {
                let ids = client.get(&["experimental", "tool", "ids"]).within(&project.path).send().await?;
                let item = |id| Item { name: text(id), description: String::new() };
                ids.as_array().into_iter().flatten().map(item).collect()
            }
            (Some(provider), Some(model)) => {
                let request = client.get(&["experimental", "tool"]).within(&project.path);
                let tools = request.query("provider", provider).query("model", model).send().await?;
                let item = |tool: &serde_json::Value| Item {
                    name: text(&tool["id"]),
                    description: text(&tool["description"]),
                };
                tools.as_array().into_iter().flatten().map(item).collect()
            }
            _ => {
                return Err(Error::new(
                    Kind::InvalidInput,
                    "`provider` and `model` go together, and one is missing",
                )
                .hint("give both, or none of them"));
            }
        };
        Ok(Json(Output { items }))
    }
}

//! `opencode_config_get`: OpenCode's configuration, without its secrets.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::InProject;
use crate::hidden::hidden;
use crate::pack::Opencode;

pub(super) struct ConfigGet;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// What counts in this project, all files taken together.
    merged: Map<String, Value>,
    /// What OpenCode's own file for all projects says.
    global: Map<String, Value>,
}

impl Tool<Opencode> for ConfigGet {
    type Input = InProject;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_config_get",
        title: "Get configuration",
        description: "Read OpenCode's configuration, with keys and tokens hidden.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: InProject) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let read = async |request: crate::client::Request<'_>| {
            let config = request.send().await?;
            Ok(config.as_object().cloned().map(hidden).unwrap_or_default())
        };
        let merged: Result<_> = read(link.client().get(&["config"]).within(&project.path)).await;
        let global: Result<_> = read(link.client().get(&["global", "config"])).await;
        Ok(Json(Output { merged: merged?, global: global? }))
    }
}

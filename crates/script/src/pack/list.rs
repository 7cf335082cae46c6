//! `script_list`: what scripts there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::ScriptPack;
use crate::scripts::ScriptInfo;

pub(super) struct ScriptList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The scripts, by name.
    items: Vec<ScriptInfo>,
}

impl Tool<ScriptPack> for ScriptList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "script_list",
        title: "List scripts",
        description: "List the scripts with what each does, what it may reach, and whether it is approved.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &ScriptPack, _: &RunHandle, _: Input) -> Result<Json<Output>> {
        Ok(Json(Output { items: pack.scripts.files().await? }))
    }
}

//! `script_reload`: read the folder of scripts again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::ScriptPack;
use crate::scripts::State;

pub(super) struct ScriptReload;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// How many scripts there are.
    scripts: usize,
    /// How many of them may run.
    approved: usize,
}

impl Tool<ScriptPack> for ScriptReload {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "script_reload",
        title: "Reload scripts",
        description: "Read the folder of scripts again; changes are seen without it, too.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &ScriptPack, _: &RunHandle, _: Input) -> Result<Json<Output>> {
        // Nothing is kept between two looks, so there is nothing to forget.
        let all = pack.scripts.files().await?;
        let approved = all.iter().filter(|script| script.state == State::Approved).count();
        Ok(Json(Output { scripts: all.len(), approved }))
    }
}

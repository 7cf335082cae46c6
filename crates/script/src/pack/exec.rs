//! `script_exec`: run code, once an administrator has approved it.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{Asked, Output, ScriptPack, note};

pub(super) struct ScriptExec;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The code, in Starlark; it has no secrets.
    code: String,
}

impl Tool<ScriptPack> for ScriptExec {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "script_exec",
        title: "Run code",
        description: "Run Starlark code that an administrator has approved, without secrets, and return its result.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &ScriptPack, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let by = &run.principal().id;
        let script = pack.scripts.cleared_code(input.code, by, |script| note(run, script)).await?;
        pack.execute(run, &script, Asked::default()).await
    }
}

//! `script_run`: run an approved script.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};
use toolgate_wire::Raw;

use super::{AnyJson, Asked, Output, ScriptPack, note};

pub(super) struct ScriptRun;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The name of the script, with or without `.star`.
    name: String,
    /// The function to call; left out for `main`, or else `result`, or else all public values.
    #[serde(default)]
    function: String,
    /// What the function is called with, in order.
    #[serde(default)]
    #[schemars(with = "Vec<AnyJson>")]
    args: Vec<Raw>,
    /// What the function is called with, by name; give either this or `args`.
    #[serde(default = "none")]
    #[schemars(with = "BTreeMap<String, AnyJson>")]
    kwargs: Raw,
}

fn none() -> Raw {
    Raw::EMPTY_OBJECT
}

impl Tool<ScriptPack> for ScriptRun {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "script_run",
        title: "Run script",
        description: "Run an approved script, or one of its functions, and return its result.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &ScriptPack, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let Input { name, function, args, kwargs } = input;
        let args = match (args.is_empty(), kwargs.entries().next().is_none()) {
            (true, true) => None,
            (false, true) => Some(Raw::of(&args)),
            (true, false) => Some(kwargs),
            (false, false) => {
                return Err(Error::new(Kind::InvalidInput, "`args` and `kwargs` are both given")
                    .hint("give one of them"));
            }
        };
        let script = pack.scripts.cleared(&name, |script| note(run, script)).await?;
        let function = Some(function).filter(|function| !function.is_empty());
        pack.execute(run, &script, Asked { function, args }).await
    }
}

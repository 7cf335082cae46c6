//! A pack with one tool, whose answer was prepared before: what a call costs beyond it is the pipeline's.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use toolgate_core::{AnyTool, Hints, Pack, Reply, Result, RunHandle, Tool, ToolSpec, tool};
use toolgate_wire::Raw;

/// The answer to every call.
pub(crate) struct Replies(pub(crate) Raw);

impl Pack for Replies {
    const NAME: &'static str = "test";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(Echo)]
    }
}

struct Echo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to answer; the prepared answer says it already.
    #[serde(rename = "message")]
    _message: String,
}

impl Tool<Replies> for Echo {
    type Input = Input;
    type Output = Prepared;
    const SPEC: ToolSpec = ToolSpec {
        name: "test_echo",
        title: "Echo",
        description: "Answer with what was prepared.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Replies, _: &RunHandle, _: Input) -> Result<Prepared> {
        Ok(Prepared(pack.0.clone()))
    }
}

/// A result that is shared, not copied.
struct Prepared(Raw);

impl Reply for Prepared {
    fn schema(_: &mut SchemaGenerator) -> Option<serde_json::Value> {
        None
    }

    fn into_result(self, _: bool) -> Result<Raw> {
        Ok(self.0)
    }
}

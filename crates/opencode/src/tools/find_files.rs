//! `opencode_find_files`: files by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::text;
use crate::pack::Opencode;

pub(super) struct FindFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What the path is like: some of its letters, in order.
    query: String,
    /// What to look for: file or directory; by default both.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("enum" = ["file", "directory"]))]
    kind: Option<String>,
    /// How many at most, from 1 to 200.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The paths, from the root of the project, the best first.
    items: Vec<String>,
}

impl Tool<Opencode> for FindFiles {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_find_files",
        title: "Find files",
        description: "Find files and folders of the project by what their paths are like.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        if !(1..=200).contains(&input.limit) {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("`limit` is {}, expected 1 to 200", input.limit),
            )
            .hint("give a number from 1 to 200"));
        }
        let project = pack.project(None)?;
        let link = pack.link().await?;
        let request = link.client().get(&["find", "file"]).within(&project.path).query("query", &input.query);
        let request = request.query("limit", &input.limit.to_string());
        let request = match input.kind.as_deref() {
            Some(kind @ ("file" | "directory")) => request.query("type", kind),
            Some(other) => {
                let words = format!("`type` is `{other}`, expected `file` or `directory`");
                return Err(Error::new(Kind::InvalidInput, words).hint("choose one of them, or leave it out"));
            }
            None => request,
        };
        let found = request.send().await?;
        Ok(Json(Output { items: found.as_array().into_iter().flatten().map(text).collect() }))
    }
}

fn limit() -> u32 {
    50
}

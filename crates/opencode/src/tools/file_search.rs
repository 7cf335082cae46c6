//! `opencode_file_search`: text in the files of the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::search::{Found, Hit, none, search};
use crate::pack::Opencode;

pub(super) struct FileSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What to look for: a regular expression.
    pattern: String,
    /// Only in this folder, from the root of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    directory: Option<String>,
    /// How many at most.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10000))]
    limit: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The lines that were found.
    items: Vec<Hit>,
    /// Whether there are more than were asked for.
    truncated: bool,
    /// How many files were not searched because they are larger than 2 MiB.
    #[serde(default, skip_serializing_if = "none")]
    too_large: usize,
}

impl Tool<Opencode> for FileSearch {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_file_search",
        title: "Search files",
        description: "Search the files of the project for a regular expression.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(None)?;
        let pattern = ("pattern", input.pattern.as_str());
        let Found { hits: items, truncated, too_large } =
            search(&project.path, input.directory.as_deref(), pattern, input.limit).await?;
        Ok(Json(Output { items, truncated, too_large }))
    }
}

fn limit() -> usize {
    1000
}

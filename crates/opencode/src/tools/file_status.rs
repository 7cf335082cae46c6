//! `opencode_file_status`: what is changed in the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::{files::within, text};
use crate::pack::Opencode;

pub(super) struct FileStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Only this file or folder, from the root of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The files that differ from the last commit.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The path of the file, from the root of the project.
    path: String,
    /// What became of it: added, modified or deleted.
    status: String,
    /// How many lines are new.
    added: u64,
    /// How many lines are gone.
    removed: u64,
}

impl Tool<Opencode> for FileStatus {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_file_status",
        title: "File status",
        description: "List the files of the project that differ from the last commit.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(None)?;
        let link = pack.link().await?;
        let only = input.path.as_deref().map(|path| within(&project.path, "path", path)).transpose()?;
        let all = link.client().get(&["vcs", "status"]).within(&project.path).send().await?;
        let wanted = |path: &str| {
            only.as_ref().is_none_or(|only| {
                let rest = path.strip_prefix(only.as_str());
                only.as_str() == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let item = |file: &serde_json::Value| Item {
            path: text(&file["file"]),
            status: text(&file["status"]),
            added: file["additions"].as_u64().unwrap_or(0),
            removed: file["deletions"].as_u64().unwrap_or(0),
        };
        let items = all.as_array().into_iter().flatten().map(item);
        Ok(Json(Output { items: items.filter(|item| wanted(&item.path)).collect() }))
    }
}

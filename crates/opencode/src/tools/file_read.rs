//! `opencode_file_read`: the bytes of a file of the project.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::Root;
use toolgate_host::files::ReadOptions;

use super::files::{refused, within};
use crate::pack::Opencode;

pub(super) struct FileRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The path of the file, from the root of the project.
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The path of the file, from the root of the project.
    path: String,
    /// Its content: as it is, or in base64.
    content: String,
    /// How the content is written: utf-8 or base64.
    encoding: String,
    /// How many bytes the file has.
    size: u64,
}

impl Tool<Opencode> for FileRead {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_file_read",
        title: "Read a file",
        description: "Read a file of the project, exactly as it is.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(None)?;
        let path = within(&project.path, "path", &input.path)?;
        let failed = |error| refused("path", &input.path, error);
        let root = Root::open(&project.path).map_err(failed)?;
        let read = root.read(&path, ReadOptions::whole(MOST_BYTES)).await.map_err(failed)?;
        let (content, encoding) = match String::from_utf8(read.bytes) {
            Ok(text) => (text, "utf-8"),
            Err(error) => (STANDARD.encode(error.as_bytes()), "base64"),
        };
        Ok(Json(Output { path: path.to_string(), content, encoding: encoding.into(), size: read.total_size }))
    }
}

/// The largest file that is read.
const MOST_BYTES: u64 = 8 << 20;

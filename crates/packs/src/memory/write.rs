//! `memory_write`: write a memory file, or add to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::{WriteMode, WriteOptions};

use super::file::FileName;
use super::{ADVICE, Memory};
use crate::failure::failure;

pub(super) struct MemoryWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[serde(default)]
    file: FileName,
    /// What to remember, as text.
    content: String,
    /// Whether to add it on a new line at the end, instead of replacing what is there.
    #[serde(default)]
    append: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The file it is in, from the memory root.
    file: String,
    /// How many bytes were written.
    bytes: u64,
    /// Whether the file is new.
    created: bool,
}

impl Tool<Memory> for MemoryWrite {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "memory_write",
        title: "Write memory",
        description: "Write a memory file, or add to it.",
        hints: Hints::WRITE_LOCAL,
    };

    async fn run(&self, pack: &Memory, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let path = input.file.path()?;
        let mode = if input.append { WriteMode::AppendLine } else { WriteMode::Replace };
        let options =
            WriteOptions { create_dirs: true, mode, max_bytes: pack.config.max_bytes, protected: |_| false };
        let written = pack.root()?.write(&path, input.content.into_bytes(), options).await;
        let written = written.map_err(|error| failure(error, ADVICE))?;
        Ok(Json(Output { file: path.to_string(), bytes: written.bytes, created: written.created }))
    }
}

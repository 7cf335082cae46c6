//! `memory_read`: read a memory file.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};
use toolgate_host::FileError;
use toolgate_host::files::ReadOptions;

use super::file::FileName;
use super::{ADVICE, Memory};
use crate::encoding;
use crate::failure::failure;

pub(super) struct MemoryRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[serde(default)]
    file: FileName,
}

impl Tool<Memory> for MemoryRead {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "memory_read",
        title: "Read memory",
        description: "Read a memory file; one that does not exist yet is empty.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Memory, _: &RunHandle, input: Input) -> Result<Text> {
        let path = input.file.path()?;
        match pack.root()?.read(&path, ReadOptions::whole(pack.config.max_bytes)).await {
            Ok(content) => {
                encoding::text(content.bytes, path.as_str(), "replace it with `memory_write`").map(Text)
            }
            Err(FileError::NotFound { .. }) => Ok(Text(String::new())),
            Err(error) => Err(failure(error, ADVICE)),
        }
    }
}

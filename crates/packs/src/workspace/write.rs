//! `workspace_write`: write a file as a whole.

use std::ffi::OsStr;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::{WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use super::Workspace;
use crate::encoding::Encoding;
use crate::failure::{Advice, failure};

const ADVICE: Advice = Advice {
    missing: "call `workspace_list` to see what exists",
    large: "write less, or spread it over several files",
};

pub(super) struct WorkspaceWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the file, from the workspace root; missing folders are made.
    path: String,
    /// What to write; empty text makes an empty file.
    content: String,
    /// How `content` stands here: as the text itself, or as base64 for binary files.
    #[serde(default)]
    encoding: Encoding,
    /// What to do with a file that is there already: `replace` it, `append` to it, or only `create` a new one.
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Append,
    Create,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Path of the file, from the workspace root.
    path: String,
    /// How many bytes were written.
    bytes: u64,
    /// Whether the file is new.
    created: bool,
}

impl Tool<Workspace> for WorkspaceWrite {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "workspace_write",
        title: "Write file",
        description: "Write a file of the workspace as a whole, or append to it.",
        hints: Hints::WRITE_LOCAL,
    };

    async fn run(&self, pack: &Workspace, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let path = super::path(&input.path).map_err(|error| failure(error, ADVICE))?;
        let bytes = input.encoding.decode(input.content)?;
        let root = pack.root(run).await?;
        let options = WriteOptions {
            create_dirs: true,
            mode: input.mode.into(),
            max_bytes: pack.config().max_write_bytes,
            protected: is_protected,
        };
        if is_own(&root, &path, pack.0.own_file.as_deref()).await {
            return Err(failure(FileError::Protected { path: path.to_string() }, ADVICE));
        }
        let written = root.write(&path, bytes, options).await.map_err(|error| failure(error, ADVICE))?;
        Ok(Json(Output { path: path.to_string(), bytes: written.bytes, created: written.created }))
    }
}

/// What git runs, and what this program obeys, is not for those who are under its policy.
fn is_protected(path: &Path) -> bool {
    let is = |part: Option<&OsStr>, name: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(name));
    is(path.file_name(), "toolgate.toml") || path.iter().any(|part| is(Some(part), ".git"))
}

/// Whether a path leads to the file that this program is configured by, whatever that is called.
async fn is_own(root: &Root, path: &RelPath, own: Option<&Path>) -> bool {
    let Some(own) = own.and_then(|own| std::fs::canonicalize(own).ok()) else { return false };
    let (Ok(place), Ok(real)) = (root.place().await, root.real(path).await) else { return false };
    own == place.join(real.as_str())
}

impl From<Mode> for WriteMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Replace => Self::Replace,
            Mode::Append => Self::Append,
            Mode::Create => Self::CreateNew,
        }
    }
}

//! `vault_read`: read a note, or some lines of it.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Block, Content, Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::RelPath;
use toolgate_host::files::ReadOptions;

use super::{ADVICE, Vault};
use crate::encoding;
use crate::failure::failure;

/// The most bytes of a file of which lines can be read.
const LARGEST: u64 = 64 << 20;

pub(super) struct VaultRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the note, from the root of the vault; `.md` may be left out.
    path: String,
    /// The line to begin with, from 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1))]
    from_line: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "usize",
        range(min = 1),
        description = "How many lines to read; all that follow if left out."
    )]
    lines: Option<usize>,
}

const fn first_line() -> usize {
    1
}

impl Tool<Vault> for VaultRead {
    type Input = Input;
    type Output = Content;
    const SPEC: ToolSpec = ToolSpec {
        name: "vault_read",
        title: "Read note",
        description: "Read a note of the vault, in whole or some lines of it.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Vault, _: &RunHandle, input: Input) -> Result<Content> {
        let path = super::path(&input.path)?;
        let problem = pack.pulled().await;
        let path = find(pack, path).await?;
        let limit = pack.0.max_read_bytes;
        let whole = input.from_line == 1 && input.lines.is_none();
        let options = ReadOptions::whole(if whole { limit } else { LARGEST.max(limit) });
        let content = pack.root().read(&path, options).await.map_err(|error| failure(error, ADVICE))?;
        let text =
            encoding::text(content.bytes, path.as_str(), "only notes and other texts can be read here")?;
        let text = if whole { text } else { input.lines_of(&text, limit)? };
        let mut blocks = vec![Block::Text(text)];
        blocks
            .extend(problem.map(|problem| Block::Text(format!("note: this may be out of date: {problem}"))));
        Ok(Content(blocks))
    }
}

impl Input {
    fn lines_of(&self, text: &str, limit: u64) -> Result<String> {
        let count = self.lines.unwrap_or(usize::MAX);
        let part: String = text.split_inclusive('\n').skip(self.from_line - 1).take(count).collect();
        if part.len() as u64 > limit {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("these lines have {} bytes, the limit is {limit}", part.len()),
            )
            .hint("read fewer of them with `lines`"));
        }
        Ok(part)
    }
}

/// Where a note really is; a name without an ending may be that of a note.
async fn find(pack: &Vault, path: RelPath) -> Result<RelPath> {
    match pack.real(&path).await {
        Err(error) if error.kind() == Kind::FileNotFound && !path.is_root() && !super::is_note(&path) => {
            let Ok(note) = RelPath::parse(&format!("{path}.md"), "") else { return Err(error) };
            pack.real(&note).await.map_err(|_| error)
        }
        found => found,
    }
}

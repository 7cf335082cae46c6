//! `workspace_read`: read a file, or a part of it.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};
use toolgate_host::FileError;
use toolgate_host::files::ReadOptions;

use super::Workspace;
use crate::encoding::{self, Encoding};
use crate::failure::{Advice, failure};

const ADVICE: Advice = Advice {
    missing: "call `workspace_list` to see what exists",
    large: "read a part of it with `offset` and `length`",
};

// A character has at most this many bytes behind its first.
const LONGEST_TAIL: usize = 3;

pub(super) struct WorkspaceRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the file, from the workspace root; `notes.md` and `/workspace/notes.md` are the same.
    path: String,
    /// How to return it: as UTF-8 text, or as base64 for images, archives and other binary files.
    #[serde(default)]
    encoding: Encoding,
    /// Where to begin, in bytes from the start of the file.
    #[serde(default)]
    offset: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "u64",
        description = "How many bytes to read; all that follow if left out. In text, a character belongs to the \
            range in which its first byte lies, so that ranges one after the other give the whole text."
    )]
    length: Option<u64>,
}

impl Tool<Workspace> for WorkspaceRead {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "workspace_read",
        title: "Read file",
        description: "Read a file of the workspace, in whole or in part.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Workspace, run: &RunHandle, input: Input) -> Result<Text> {
        let path = super::path(&input.path).map_err(|error| failure(error, ADVICE))?;
        let root = pack.root(run).await?;
        let limit = pack.config().max_read_bytes;
        let content = root.read(&path, input.options(limit)).await;
        let content = content.map_err(|error| failure(with_limit(error, limit), ADVICE))?;
        match input.encoding {
            Encoding::Base64 => Ok(Text(encoding::base64(&content.bytes))),
            Encoding::Text => {
                let bytes = input.characters(content.bytes);
                encoding::text(bytes, path.as_str(), "call again with `encoding` = `base64`").map(Text)
            }
        }
    }
}

impl Input {
    /// What to read: in text, a little more than the range, for the character that it may cut.
    fn options(&self, limit: u64) -> ReadOptions {
        let tail = match (self.encoding, self.length) {
            (Encoding::Text, Some(_)) => LONGEST_TAIL as u64,
            (Encoding::Text, None) | (Encoding::Base64, _) => 0,
        };
        ReadOptions {
            offset: self.offset,
            length: self.length.map(|length| length.saturating_add(tail)),
            max_bytes: limit.saturating_add(tail),
        }
    }

    /// The characters that begin in the range, of the bytes that were read for it.
    fn characters(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let tail = |bytes: &[u8]| bytes.iter().take(LONGEST_TAIL).take_while(|byte| is_tail(**byte)).count();
        let start = if self.offset == 0 { 0 } else { tail(&bytes) };
        let length = self.length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        if length <= start {
            return Vec::new();
        }
        if let Some(behind) = bytes.get(length..) {
            bytes.truncate(length + tail(behind));
        }
        bytes.drain(..start);
        bytes
    }
}

/// Whether a byte continues a character.
const fn is_tail(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The limit as it is configured, without what was added to complete a character.
fn with_limit(mut error: FileError, configured: u64) -> FileError {
    if let FileError::TooLarge { limit, .. } = &mut error {
        *limit = configured;
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_one_after_the_other_give_the_whole_text() {
        let text = "aé€🦀 z🦀€éa";
        for length in 1..=text.len() {
            let mut whole = String::new();
            for offset in (0..text.len()).step_by(length) {
                let input = Input {
                    path: String::new(),
                    encoding: Encoding::Text,
                    offset: offset as u64,
                    length: Some(length as u64),
                };
                let end = text.len().min(offset + length + LONGEST_TAIL);
                let bytes = input.characters(text.as_bytes()[offset..end].to_vec());
                whole.push_str(&String::from_utf8(bytes).unwrap());
            }
            assert_eq!(whole, text, "in ranges of {length}");
        }
    }
}

//! `vault_write`: write a note, add to it, or change a passage of it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::RelPath;
use toolgate_host::files::{WriteMode, WriteOptions, Written};

use super::edit::Change;
use super::git::{Commit, Synced};
use super::{ADVICE, Vault, is_hidden};
use crate::failure::failure;

/// The longest message of a commit, in bytes.
const LONGEST_MESSAGE: usize = 4_096;

pub(super) struct VaultWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the note, from the root of the vault, with its ending; missing folders are made.
    path: String,
    /// The text to write; with `edit` what takes the place of `passage`.
    content: String,
    #[serde(default)]
    #[schemars(
        description = "Where the text goes: in the place of all (`replace`), on a new line at the end (`append`) or at the \
            start behind the front matter (`prepend`), in the place of `passage` (`edit`), or only into a new note \
            (`create`)."
    )]
    mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "With `edit`: the text to replace, letter by letter; it has to be there exactly once."
    )]
    passage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "What the commit says, where notes are kept in git; `Update` and the path if left out."
    )]
    commit_message: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Append,
    Prepend,
    Edit,
    Create,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Path of the note, from the root of the vault.
    path: String,
    /// How many bytes the note has now.
    size: u64,
    /// Whether the note is new.
    created: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Synced", description = "What became of it in git, where that is switched on.")]
    git: Option<Synced>,
}

impl Tool<Vault> for VaultWrite {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "vault_write",
        title: "Write note",
        description: "Write a note of the vault, add to it, or replace one passage of it.",
        hints: Hints::WRITE_LOCAL,
    };

    async fn run(&self, pack: &Vault, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let path = super::path(&input.path)?;
        let message = message(input.commit_message.as_deref(), &path)?;
        let change = change(input.mode, input.content, input.passage)?;
        let pack = pack.clone();
        let tasks = pack.0.tasks.clone();
        // A write that has begun comes to its end, its commit included, even if nobody waits for it any more.
        let written = tasks.spawn(async move { pack.write(path, change, message).await });
        let lost = |error| Error::new(Kind::Internal, "the write did not come to its end").because(error);
        written.await.map_err(lost)?.map(Json)
    }
}

impl Vault {
    async fn write(&self, path: RelPath, change: Change, message: String) -> Result<Output> {
        let Some(git) = &self.0.git else {
            let written = self.put(&path, change).await?;
            return Ok(Output::new(&path, written, None));
        };
        let mut turn = git.turn().await;
        turn.pull().await;
        let written = self.put(&path, change).await?;
        // Whoever moved it meanwhile does not make the write a failure; git tells what it finds.
        let real = self.real(&path).await.unwrap_or_else(|_| path.clone());
        let synced = turn.publish(&Commit { path: real, message }).await;
        Ok(Output::new(&path, written, Some(synced)))
    }

    async fn put(&self, path: &RelPath, change: Change) -> Result<Written> {
        let options = WriteOptions {
            create_dirs: !matches!(change, Change::Edit { .. }),
            mode: WriteMode::Replace,
            max_bytes: self.0.max_write_bytes,
            protected: |path: &Path| is_hidden(path),
        };
        let name = path.to_string();
        let written = self.root().change(path, options, move |old| change.apply(&name, old)).await;
        let written = written.map_err(|error| failure(error, ADVICE))?;
        self.0.keeper.touch([path.clone()]);
        written
    }
}

impl Output {
    fn new(path: &RelPath, written: Written, git: Option<Synced>) -> Self {
        Self { path: path.to_string(), size: written.total_size, created: written.created, git }
    }
}

fn change(mode: Mode, content: String, passage: Option<String>) -> Result<Change> {
    match (mode, passage) {
        (Mode::Edit, Some(passage)) => Ok(Change::Edit { passage, with: content }),
        (Mode::Edit, None) => {
            Err(Error::new(Kind::InvalidInput, "`passage` is missing, and `edit` needs it")
                .hint("give the exact text to replace as `passage`, and what takes its place as `content`"))
        }
        (Mode::Replace | Mode::Append | Mode::Prepend | Mode::Create, Some(_)) => {
            Err(Error::new(Kind::InvalidInput, "`passage` is for `mode` = `edit` only")
                .hint("leave it out, or set `mode` to `edit`"))
        }
        (Mode::Replace, None) => Ok(Change::Replace(content)),
        (Mode::Append, None) => Ok(Change::Append(content)),
        (Mode::Prepend, None) => Ok(Change::Prepend(content)),
        (Mode::Create, None) => Ok(Change::Create(content)),
    }
}

fn message(given: Option<&str>, path: &RelPath) -> Result<String> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
        return Ok(format!("Update {path}"));
    };
    if given.len() > LONGEST_MESSAGE || given.contains('\0') {
        return Err(Error::new(Kind::InvalidInput, "`commit_message` is too long, or holds a NUL byte")
            .hint("say it in a few lines"));
    }
    Ok(given.to_owned())
}

//! Keeping the vault the same as a git repository elsewhere.
//!
//! The vault's own `.git/config`, hooks and attributes count for nothing: git works in a folder of ours that has a
//! configuration of ours, and only objects, references and the index are the vault's. See `repository.rs`.

mod command;
mod problem;
mod remote;
mod repository;
mod turn;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Semaphore;
use toolgate_host::{RelPath, Root, Secret, Tasks, find_program};

use super::config::{ADDRESS, Pull, VaultGitConfig};
use crate::Unready;
use command::Runner;

pub(super) use remote::Remote;
pub(super) use turn::Turn;

/// The name of the remote whose address counts, and whose branches are kept.
const REMOTE: &str = "origin";

/// The programs of the machine, as far as git needs them.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// The folders that programs are looked for in, as in `PATH`.
    pub search_path: String,
    /// The socket of the agent that holds keys for SSH.
    pub ssh_agent: Option<String>,
}

/// The git repository of a vault. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Git(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: Root,
    /// Our folder, made when it is first needed.
    own: PathBuf,
    runner: Option<Runner>,
    pull: Pull,
    push: bool,
    url: Option<Remote>,
    fresh: Duration,
    timeout: Duration,
    /// One thing at a time.
    turn: Arc<Semaphore>,
    last: Mutex<Option<Last>>,
}

/// The last pull: when it was, and what went wrong.
#[derive(Debug)]
struct Last {
    at: Instant,
    problem: Option<String>,
}

/// What is to be committed.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) path: RelPath,
    pub(super) message: String,
}

/// What became of a write in git.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Synced {
    /// How what is elsewhere came in before the write.
    pub(super) pulled: Pulled,
    /// The commit that holds the write; empty if there is none.
    pub(super) commit: String,
    /// Whether the commit, and those before it, are elsewhere now.
    pub(super) pushed: Pushed,
    /// What went wrong, and what to do about it; the note itself is written in any case.
    pub(super) problems: Vec<String>,
}

/// How what is elsewhere came in.
// The variants carry no doc comments: those would turn the schema's plain `enum` into a `oneOf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pulled {
    Off,
    UpToDate,
    Updated,
    Rebased,
    Failed,
}

/// Whether commits are elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pushed {
    Off,
    #[serde(rename = "pushed")]
    Done,
    Nothing,
    Failed,
}

impl Git {
    /// What is configured, over the folder of a vault.
    pub(super) fn new(
        config: &VaultGitConfig,
        root: Root,
        own: PathBuf,
        tools: Tools,
        fill: impl Fn(&str) -> Result<Secret, String>,
    ) -> Result<Self, Unready> {
        let url = config.url.as_deref().map(Remote::parse).transpose();
        let url = url.map_err(|what| Unready::wrong("vault.git.url", what, ADDRESS))?;
        let token = config.token.as_deref().map(fill).transpose().map_err(Unready::Needs)?;
        let timeout = Duration::from_millis(config.timeout_ms);
        let runner = find_program(&tools.search_path, "git")
            .map(|program| Runner::new(program, &tools, config, token));
        Ok(Self(Arc::new(Inner {
            root,
            own,
            runner,
            pull: config.pull,
            push: config.push,
            url,
            fresh: Duration::from_millis(config.fresh_ms),
            timeout,
            turn: Arc::new(Semaphore::new(1)),
            last: Mutex::default(),
        })))
    }

    /// Waits until nothing else is done with git.
    pub(super) async fn turn(&self) -> Turn {
        // It is never closed; without a permit git itself still allows one writer at a time.
        let permit = self.0.turn.clone().acquire_owned().await.ok();
        Turn::new(self.0.clone(), permit)
    }

    /// Pulls, unless that was done lately; says what went wrong. It comes to its end even if nobody waits for it.
    pub(super) async fn refresh(&self, tasks: &Tasks) -> Option<String> {
        if self.0.pull == Pull::Off {
            return None;
        }
        if let Some(known) = self.lately() {
            return known;
        }
        let this = self.clone();
        let pulling = tasks.spawn(async move {
            let mut turn = this.turn().await;
            if let Some(known) = this.lately() {
                return known;
            }
            turn.pull().await
        });
        pulling.await.unwrap_or_else(|_| Some("the pull did not come to its end".into()))
    }

    /// What came of the last pull, if it is recent enough to count.
    fn lately(&self) -> Option<Option<String>> {
        let last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|last| last.at.elapsed() <= self.0.fresh).map(|last| last.problem.clone())
    }
}

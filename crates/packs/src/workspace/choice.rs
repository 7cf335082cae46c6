//! Which folder is the workspace.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_core::{ConnectionId, Result, RunHandle, Transport};
use toolgate_host::Root;

use super::told;
use crate::folder::OwnFolder;

/// How many attached clients' folders are remembered; whoever is forgotten is asked again.
const MOST_TOLD: usize = 256;

/// Which folder is the workspace: the configured one, the client's, or our own.
#[derive(Debug)]
pub(super) struct RootChoice {
    configured: Option<Root>,
    own: OwnFolder,
    told: Mutex<Told>,
}

/// What came of asking clients.
#[derive(Debug, Default)]
struct Told {
    /// Each one's folder, or our own where it has none; absent until it was asked.
    roots: HashMap<Teller, Root>,
    /// How often their folders have changed. An answer from before a change is not kept.
    round: u64,
}

/// A client that may tell its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Teller {
    /// The one on this process's standard input; there is one at a time.
    Stdio,
    /// One on the standard input of another process of this machine.
    Attached(ConnectionId),
}

impl Teller {
    fn of(run: &RunHandle) -> Option<Self> {
        match run.client().transport {
            Transport::Stdio => Some(Self::Stdio),
            Transport::Attached => run.connection().map(Self::Attached),
            Transport::Http | Transport::Sse | Transport::Local => None,
        }
    }
}

impl RootChoice {
    pub(super) fn new(configured: Option<Root>, fallback: PathBuf) -> Self {
        Self { configured, own: OwnFolder::new(fallback), told: Mutex::default() }
    }

    /// The folder as far as it is known; asks nobody, and follows no client but our own.
    pub(super) fn now(&self) -> Result<Root> {
        let known = self.configured.clone().or_else(|| self.told().roots.get(&Teller::Stdio).cloned());
        known.map_or_else(|| self.own.root(), Ok)
    }

    /// The folder for a call; asks its client where only the client can know and nobody has asked it yet.
    ///
    /// Calls that come at once may each ask: a client answers by itself, and none has to wait for another.
    pub(super) async fn settle(&self, run: &RunHandle) -> Result<Root> {
        let (None, Some(teller)) = (&self.configured, Teller::of(run)) else { return self.now() };
        let round = {
            let told = self.told();
            if let Some(root) = told.roots.get(&teller) {
                return Ok(root.clone());
            }
            told.round
        };
        if !run.client().capabilities.roots {
            return self.own.root();
        }
        let root = match told::ask(run).await? {
            Some(root) => root,
            None => self.own.root()?,
        };
        let mut told = self.told();
        if told.round == round && !told.roots.contains_key(&teller) {
            told.keep(teller, root.clone());
        }
        Ok(root)
    }

    pub(super) fn forget(&self) {
        let mut told = self.told();
        told.roots.clear();
        told.round += 1;
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn keep(&mut self, teller: Teller, root: Root) {
        if self.roots.len() >= MOST_TOLD {
            self.roots.retain(|teller, _| *teller == Teller::Stdio);
        }
        self.roots.insert(teller, root);
    }
}

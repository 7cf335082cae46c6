//! Which folder is the workspace.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_core::{Result, RunHandle, Transport};
use toolgate_host::Root;

use super::told;
use crate::folder::OwnFolder;

/// Which folder is the workspace: the configured one, the client's, or our own.
#[derive(Debug)]
pub(super) struct RootChoice {
    configured: Option<Root>,
    own: OwnFolder,
    told: Mutex<Told>,
}

/// What came of asking the client.
#[derive(Debug, Default)]
struct Told {
    /// Its folder, or our own where it has none; absent until it was asked.
    root: Option<Root>,
    /// How often its folders have changed. An answer from before a change is not kept.
    round: u64,
}

impl RootChoice {
    pub(super) fn new(configured: Option<Root>, fallback: PathBuf) -> Self {
        Self { configured, own: OwnFolder::new(fallback), told: Mutex::default() }
    }

    /// The folder as far as it is known; asks nobody.
    pub(super) fn now(&self) -> Result<Root> {
        let known = self.configured.clone().or_else(|| self.told().root.clone());
        known.map_or_else(|| self.own.root(), Ok)
    }

    /// The folder for a call; asks its client where only the client can know and nobody has asked it yet.
    ///
    /// Calls that come at once may each ask: a client answers by itself, and none has to wait for another.
    pub(super) async fn settle(&self, run: &RunHandle) -> Result<Root> {
        let client = run.client();
        let may_tell = client.transport == Transport::Stdio && client.capabilities.roots;
        let Some(round) = self.unasked().filter(|_| may_tell) else {
            return self.now();
        };
        let root = match told::ask(run).await? {
            Some(root) => root,
            None => self.own.root()?,
        };
        let mut told = self.told();
        if told.round == round && told.root.is_none() {
            told.root = Some(root.clone());
        }
        Ok(root)
    }

    pub(super) fn forget(&self) {
        let mut told = self.told();
        told.root = None;
        told.round += 1;
    }

    /// The round in which the client is still to be asked.
    fn unasked(&self) -> Option<u64> {
        let told = self.told();
        (self.configured.is_none() && told.root.is_none()).then_some(told.round)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Watching a resource: the server is told for the first who wants to know, and for the last.

use std::sync::Arc;

use toolgate_core::{Outcome, Result, RunHandle};
use toolgate_wire::{Era, Raw};

use super::ready;
use crate::fault::Fault;
use crate::link::{Link, Told};
use crate::supervisor::Shared;
use crate::watches::{Begun, Watcher, Watches};

/// How many times it is tried at most.
const ATTEMPTS: usize = 2;

/// Someone who counts as watching while it is not known what the server says to it.
struct Unsure<'a> {
    watches: &'a Watches,
    uri: &'a Arc<str>,
    watcher: &'a Watcher,
    is_sure: bool,
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        if !self.is_sure {
            self.watches.cease(self.uri, self.watcher);
        }
    }
}

impl Shared {
    /// Begins to watch a resource. Twice is the same as once.
    pub(super) async fn watch(self: &Arc<Self>, uri: &Arc<str>, run: &RunHandle) -> Result<Outcome> {
        let watcher = Watcher::of(run);
        let mut attempt = 1;
        loop {
            let line = self.pool.line(run, self)?;
            let watched = match ready(&line, attempt).await {
                Ok(link) => self.watch_by(&link, uri, &watcher).await,
                Err(fault) => Err(fault),
            };
            match watched {
                Ok(()) => return Ok(Outcome::Complete(Raw::EMPTY_OBJECT)),
                Err(fault) if attempt < ATTEMPTS && fault.may_repeat(true) => attempt += 1,
                Err(fault) => return Err(fault.into_error(&self.plan.name)),
            }
        }
    }

    async fn watch_by(&self, link: &Link, uri: &Arc<str>, watcher: &Watcher) -> Result<(), Fault> {
        if link.era() == Era::Modern {
            self.watches.begin(uri, watcher);
            return Ok(());
        }
        // One at a time: whether the server has to know depends on what it said to others.
        let mut told = link.told.lock().await;
        let begun = self.watches.begin(uri, watcher);
        if begun == Begun::Gone || told.get(uri) == Some(&Told::Agreed) {
            return Ok(());
        }
        let is_sure = begun == Begun::Already;
        let mut unsure = Unsure { watches: &self.watches, uri, watcher, is_sure };
        let answer = link.watch(&mut told, uri, self).await.inspect_err(|fault| link.doubts(fault));
        // Who watched it before is told by the server that it does not any more.
        unsure.is_sure = answer.is_ok() || (is_sure && !matches!(answer, Err(Fault::Refused(_))));
        answer
    }

    /// Ceases to watch a resource. The server is told if it is there; it is not started to hear it.
    pub(super) async fn unwatch(&self, uri: &Arc<str>, run: &RunHandle) -> Result<Outcome> {
        let watcher = Watcher::of(run);
        self.watches.cease(uri, &watcher);
        let line = self.pool.find_line_of(&watcher, self);
        if let Some((line, link)) = line.and_then(|line| line.link().map(|link| (line, link)))
            && link.era() == Era::Legacy
        {
            let mut told = link.told.lock().await;
            if !self.wants(&line, uri) {
                let answer = link.unwatch(&mut told, uri, self).await.inspect_err(|fault| link.doubts(fault));
                // With the connection ends what it watched.
                answer
                    .or_else(|fault| if fault.may_repeat(true) { Ok(()) } else { Err(fault) })
                    .map_err(|fault| fault.into_error(&self.plan.name))?;
            }
        }
        Ok(Outcome::Complete(Raw::EMPTY_OBJECT))
    }
}

//! Watching a resource: the server is told for the first who wants to know, and for the last.

use std::sync::Arc;

use toolgate_core::{ConnectionId, Outcome, Result, RunHandle};
use toolgate_wire::{Era, Raw, method};

use super::ready;
use crate::fault::Fault;
use crate::line::Line;
use crate::link::{Ask, Link};
use crate::supervisor::Shared;

/// How many times it is tried at most.
const ATTEMPTS: usize = 2;

/// Who watches, or no longer does, and what.
struct Watching<'a> {
    uri: &'a Arc<str>,
    who: Option<ConnectionId>,
    on: bool,
}

/// Someone who counts as watching while it is not known what the server says to it.
struct Unsure<'a> {
    line: &'a Line,
    watching: &'a Watching<'a>,
    is_sure: bool,
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        if !self.is_sure && self.watching.on {
            self.line.watches(self.watching.uri, self.watching.who, false);
        }
    }
}

impl Shared {
    /// Begins or ceases to watch a resource. Twice is the same as once.
    pub(super) async fn watch(
        self: &Arc<Self>,
        uri: &Arc<str>,
        on: bool,
        run: &RunHandle,
    ) -> Result<Outcome> {
        let watching = Watching { uri, who: run.connection(), on };
        let mut attempt = 1;
        loop {
            let line = self.pool.line(run, self)?;
            let watched = match ready(&line, attempt).await {
                Ok(link) => self.watch_by(&line, &link, &watching).await,
                Err(fault) => Err(fault),
            };
            match watched {
                Ok(()) => return Ok(Outcome::Complete(Raw::EMPTY_OBJECT)),
                Err(fault) if attempt < ATTEMPTS && fault.may_repeat(true) => attempt += 1,
                Err(fault) => return Err(fault.into_error(&self.plan.name)),
            }
        }
    }

    async fn watch_by(&self, line: &Line, link: &Link, watching: &Watching<'_>) -> Result<(), Fault> {
        // One at a time: whether the server has to know depends on what it said to others.
        let _turn = line.turn_to_watch().await;
        if !line.watches(watching.uri, watching.who, watching.on) {
            return Ok(());
        }
        if link.era() == Era::Modern {
            line.rewatch.notify_one();
            return Ok(());
        }
        let mut unsure = Unsure { line, watching, is_sure: false };
        let method = if watching.on { method::RESOURCES_SUBSCRIBE } else { method::RESOURCES_UNSUBSCRIBE };
        let params = Raw::trusted(format!(r#"{{"uri":{}}}"#, Raw::string(watching.uri).as_str()).into());
        let answer = link.wire.request(Ask::plain(method, params, self.plan.timeout)).await;
        answer.inspect_err(|fault| link.doubts(fault))?;
        unsure.is_sure = true;
        Ok(())
    }
}

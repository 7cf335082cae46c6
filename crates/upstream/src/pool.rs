//! The lines to one server: who shares which.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_core::{ConnectionId, Error, Kind, PrincipalId, RunHandle};
use toolgate_wire::Era;

use crate::config::Share;
use crate::line::Line;
use crate::link::{Declared, Link};
use crate::oauth::{Authorizer, Holder};
use crate::supervisor::Shared;
use crate::watches::Watcher;

/// How many lines there may be to one server.
const MOST: usize = 256;

/// Who has a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    All,
    Principal(PrincipalId),
    Session(PrincipalId, ConnectionId),
}

impl Who {
    /// Whether a client is among them, by its connection.
    pub(crate) fn includes(&self, principal: &PrincipalId, connection: ConnectionId) -> bool {
        match self {
            Self::All => true,
            Self::Principal(id) => id == principal,
            Self::Session(id, its) => id == principal && *its == connection,
        }
    }
}

/// What tells lines apart: who has them, and which questions the server may ask on them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) who: Who,
    pub(crate) declared: Declared,
}

impl Key {
    /// The line of nobody in particular, on which nothing is asked: the server is learned by it, and servers that keep
    /// no state need no other.
    pub(crate) fn bare() -> Self {
        Self { who: Who::All, declared: Declared::default() }
    }

    /// The line of a caller as far as is known, and whether that by which the server was learned will do for it.
    fn of(
        principal: &PrincipalId,
        connection: Option<ConnectionId>,
        declared: impl FnOnce() -> Declared,
        shared: &Shared,
    ) -> (Self, bool) {
        let authorizer = shared.plan.authorizer.as_ref();
        // Nobody calls with what another was granted.
        let alone = authorizer.is_some_and(|authorizer| authorizer.holder(principal) != Holder::Shared);
        let principal = || principal.clone();
        if shared.known_era() == Some(Era::Modern) {
            let who = if alone { Who::Principal(principal()) } else { Who::All };
            return (Self { who, ..Self::bare() }, false);
        }
        let who = match (shared.plan.share, connection) {
            (Share::All, _) if !alone => Who::All,
            (Share::Session, Some(connection)) => Who::Session(principal(), connection),
            (Share::Session, None) | (Share::Principal | Share::All, _) => Who::Principal(principal()),
        };
        let key = Self { who, declared: declared() };
        let is_bare_enough = key.declared == Declared::default() && !alone;
        (key, is_bare_enough)
    }

    /// Whether it is one by which modern servers are called; `alone`: with what nobody else was granted.
    pub(crate) fn is_modern(&self, alone: bool) -> bool {
        let is_whose = match self.who {
            Who::All => !alone,
            Who::Principal(_) => alone,
            Who::Session(..) => false,
        };
        is_whose && self.declared == Declared::default()
    }

    /// Whose grant lets its requests in.
    pub(crate) fn holder(&self, authorizer: &Authorizer) -> Holder {
        match &self.who {
            Who::All => Holder::Shared,
            Who::Principal(id) | Who::Session(id, _) => authorizer.holder(id),
        }
    }
}

/// The lines to one server.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Arc<Line>>>);

impl Pool {
    /// The line for a call.
    pub(crate) fn line(&self, run: &RunHandle, shared: &Arc<Shared>) -> Result<Arc<Line>, Error> {
        let declared = || Declared::of(&run.client());
        self.take(Key::of(&run.principal().id, run.connection(), declared, shared), shared)
    }

    /// The line for whoever watches something.
    pub(crate) fn line_of(&self, watcher: &Watcher, shared: &Arc<Shared>) -> Result<Arc<Line>, Error> {
        self.take(key_of(watcher, shared), shared)
    }

    /// The same, if there is one.
    pub(crate) fn find_line_of(&self, watcher: &Watcher, shared: &Shared) -> Option<Arc<Line>> {
        let bare = self.find(&Key::bare());
        let (key, _) = key_of(watcher, shared);
        bare.filter(|bare| bare.is_of(watcher, Some(bare), shared)).or_else(|| self.find(&key))
    }

    fn take(&self, (key, is_bare_enough): (Key, bool), shared: &Arc<Shared>) -> Result<Arc<Line>, Error> {
        if is_bare_enough
            && let Some(bare) = self.find(&Key::bare())
            && bare.claim(&key.who)
        {
            return Ok(bare);
        }
        self.get(key, shared)
    }

    /// The line with this key, begun if there is none. Who switches the server off ends all lines that there are by then.
    pub(crate) fn get(&self, key: Key, shared: &Arc<Shared>) -> Result<Arc<Line>, Error> {
        let mut lines = self.lock();
        shared.switched_on()?;
        if shared.over.is_cancelled() {
            let message = format!("`{}` is not here any more", shared.plan.name);
            return Err(Error::new(Kind::ConnectionFailed, message).hint("list the tools again"));
        }
        if let Some(line) = lines.iter().find(|line| line.key == key && !line.is_stopping()) {
            return Ok(line.clone());
        }
        if lines.len() >= MOST {
            let message = format!("`{}` has {MOST} connections already", shared.plan.name);
            return Err(Error::new(Kind::ConnectionFailed, message)
                .hint(format!("share connections with `mcp.{}.share = \"all\"`", shared.plan.name)));
        }
        let line = Line::start(key, shared);
        lines.push(line.clone());
        Ok(line)
    }

    pub(crate) fn find(&self, key: &Key) -> Option<Arc<Line>> {
        self.lock().iter().find(|line| line.key == *key && !line.is_stopping()).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Line>> {
        self.lock().clone()
    }

    pub(crate) fn forget(&self, line: &Arc<Line>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, line));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Line>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Has the server speak to a client also between its calls, if nobody but its principal has the line.
    pub(crate) fn introduces(&self, run: &RunHandle, link: &Link) {
        if link.era() == Era::Legacy
            && (self.key.who != Who::All || (self.is_claimed() && !self.is_claimed_by(&Who::All)))
        {
            link.wire.desk.speaks_to(run);
        }
    }

    /// Whether it is the line of one who watches something; `bare`: the line by which the server was learned.
    pub(crate) fn is_of(&self, watcher: &Watcher, bare: Option<&Arc<Self>>, shared: &Shared) -> bool {
        let (key, is_bare_enough) = key_of(watcher, shared);
        match bare.filter(|bare| is_bare_enough && bare.is_claimed_by(&key.who)) {
            Some(bare) => std::ptr::eq(self, &raw const **bare),
            None => self.key == key,
        }
    }
}

fn key_of(watcher: &Watcher, shared: &Shared) -> (Key, bool) {
    Key::of(&watcher.principal, watcher.connection, || watcher.declared, shared)
}

//! The lines to one server: who shares which.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_core::{ConnectionId, Error, Kind, PrincipalId, RunHandle};
use toolgate_wire::Era;

use crate::config::Share;
use crate::line::Line;
use crate::link::Declared;
use crate::oauth::{Authorizer, Holder};
use crate::supervisor::Shared;

/// How many lines there may be to one server.
const MOST: usize = 256;

/// Who has a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    All,
    Principal(PrincipalId),
    Session(PrincipalId, ConnectionId),
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
        let principal = || run.principal().id.clone();
        let authorizer = shared.plan.authorizer.as_ref();
        // Nobody calls with what another was granted.
        let alone = authorizer.is_some_and(|authorizer| authorizer.holder(&principal()) != Holder::Shared);
        if shared.known_era() == Some(Era::Modern) {
            let who = if alone { Who::Principal(principal()) } else { Who::All };
            return self.get(Key { who, ..Key::bare() }, shared);
        }
        let who = match (shared.plan.share, run.connection()) {
            (Share::All, _) if !alone => Who::All,
            (Share::Session, Some(connection)) => Who::Session(principal(), connection),
            (Share::Session, None) | (Share::Principal | Share::All, _) => Who::Principal(principal()),
        };
        let key = Key { who, declared: Declared::of(&run.client()) };
        if key.declared == Declared::default()
            && !alone
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

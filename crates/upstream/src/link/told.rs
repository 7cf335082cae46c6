//! What the server of one connection was told of who watches what. It knows nothing of other connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgate_wire::{Raw, method};

use super::{Ask, Link};
use crate::fault::Fault;
use crate::line::Line;
use crate::supervisor::Shared;

/// What a server made of being told that a resource is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Agreed,
    Refused,
    /// It did not answer, or nobody waited for it.
    Unsure,
}

/// The resources that a server was told of.
pub(crate) type ToldOf = BTreeMap<Arc<str>, Told>;

impl Link {
    /// Tells a server what it does not know yet of what is watched by its line, and what is not watched any more.
    pub(crate) async fn tell_watched(&self, line: &Line, shared: &Shared) {
        for uri in self.untold(line, shared).await {
            // One at a time, so that whoever wants to watch comes in between: it may be otherwise by then.
            let mut told = self.told.lock().await;
            let is_wanted = shared.wants(line, &uri);
            let (answer, what) = if is_wanted && !is_settled(told.get(&uri)) {
                let answer = self.watch(&mut told, &uri, shared).await;
                // Nobody told of it until now, so it may have changed.
                answer.iter().for_each(|()| shared.missed(&uri));
                (answer, "does not let a resource be watched again")
            } else if !is_wanted {
                (self.unwatch(&mut told, &uri, shared).await, "does not cease to watch")
            } else {
                continue;
            };
            if let Err(fault) = answer {
                shared.reports.journal.note(what, &fault.words());
                if matches!(fault, Fault::SessionGone) {
                    self.doubts(&fault);
                }
            }
        }
    }

    /// What the server knows otherwise than it is.
    async fn untold(&self, line: &Line, shared: &Shared) -> Vec<Arc<str>> {
        let told = self.told.lock().await;
        let wanted = shared.wanted_by(line);
        let missing = wanted.iter().filter(|uri| !is_settled(told.get(*uri)));
        missing.chain(told.keys().filter(|uri| !wanted.contains(*uri))).cloned().collect()
    }

    /// Has a server tell of a resource.
    pub(crate) async fn watch(
        &self,
        told: &mut ToldOf,
        uri: &Arc<str>,
        shared: &Shared,
    ) -> Result<(), Fault> {
        told.insert(uri.clone(), Told::Unsure);
        let answer = self.ask(method::RESOURCES_SUBSCRIBE, uri, shared).await;
        match &answer {
            Ok(()) => drop(told.insert(uri.clone(), Told::Agreed)),
            Err(Fault::Refused(_)) => drop(told.insert(uri.clone(), Told::Refused)),
            Err(_) => {}
        }
        answer
    }

    /// Has a server tell of a resource no more, if it may.
    pub(crate) async fn unwatch(
        &self,
        told: &mut ToldOf,
        uri: &Arc<str>,
        shared: &Shared,
    ) -> Result<(), Fault> {
        match told.remove(uri) {
            Some(Told::Agreed | Told::Unsure) => self.ask(method::RESOURCES_UNSUBSCRIBE, uri, shared).await,
            Some(Told::Refused) | None => Ok(()),
        }
    }

    async fn ask(&self, method: &str, uri: &str, shared: &Shared) -> Result<(), Fault> {
        let params = Raw::trusted(format!(r#"{{"uri":{}}}"#, Raw::string(uri).as_str()).into());
        self.wire.request(Ask::plain(method, params, shared.plan.timeout)).await.map(drop)
    }
}

/// Whether there is no use in telling a server once more. One that refuses is asked again by whoever waits for its
/// answer, and when it is connected anew.
fn is_settled(told: Option<&Told>) -> bool {
    matches!(told, Some(Told::Agreed | Told::Refused))
}

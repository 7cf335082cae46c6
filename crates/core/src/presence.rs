//! Who is connected and what runs: for people who look at a hub, never on the way of a call that need not wait.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_wire::Raw;

use crate::filter::Filters;
use crate::hub::Inner;
use crate::quick::QuickMap;
use crate::run::Shared;
use crate::{Principal, Target, Transport};

/// How much of a client's name, and of its version, is kept.
const LONGEST_NAME: usize = 64;

/// The number of a connection, within its hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

impl ConnectionId {
    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a client calls itself: short, without secrets, and without characters that would move a terminal's cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientName {
    /// Its name.
    pub name: String,
    /// Its version, as it writes it; may be empty.
    pub version: String,
}

impl ClientName {
    /// Reads a `clientInfo` object; without a name there is nothing to remember.
    pub(crate) fn read(info: &Raw, filters: &Filters) -> Option<Self> {
        // Cut behind the filters: what they look for must not be cut in two.
        let text =
            |key| info.get(key).and_then(|value| value.as_string().map(|text| shown(&filters.clean(&text))));
        let name = text("name").filter(|name| !name.is_empty())?;
        Some(Self { name, version: text("version").unwrap_or_default() })
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version.as_str() {
            "" => f.write_str(&self.name),
            version => write!(f, "{} {version}", self.name),
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(LONGEST_NAME).collect()
}

/// A client that is connected now.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    /// Its number; later ones have higher numbers.
    pub id: ConnectionId,
    /// How it is connected.
    pub transport: Transport,
    /// Who it is.
    pub principal: Arc<Principal>,
    /// What it calls itself, once it has said so.
    pub client: Option<ClientName>,
    /// Its process, where it is one of this machine that we know.
    pub process: Option<u32>,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

/// A call that runs now.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// What it is for.
    pub target: Target,
    /// Who called.
    pub principal: Arc<Principal>,
    /// How its client is connected.
    pub transport: Transport,
    /// The connection it came in by; none where the client keeps none.
    pub connection: Option<ConnectionId>,
    /// For how long it has been running.
    pub elapsed: Duration,
}

/// Who is connected and what runs.
#[derive(Default)]
pub(crate) struct Presence {
    next: AtomicU64,
    connections: Mutex<HashMap<ConnectionId, ConnectionInfo>>,
    runs: Mutex<QuickMap<u64, (Arc<Shared>, Instant)>>,
}

impl Presence {
    pub(crate) fn connect(self: &Arc<Self>, new: NewConnection, hub: &Arc<Inner>) -> Connected {
        let id = ConnectionId(self.number());
        let NewConnection { transport, principal, process } = new;
        tracing::debug!(connection = %id, ?transport, principal = %principal.id, "connection opened");
        let since_ms = hub.clock.unix_ms();
        let info = ConnectionInfo { id, transport, principal, client: None, process, since_ms };
        self.connections().insert(id, info);
        Connected { id, presence: self.clone(), hub: Arc::downgrade(hub) }
    }

    /// Someone who does not show among those that are connected.
    pub(crate) fn watch(self: &Arc<Self>, hub: &Arc<Inner>) -> Connected {
        Connected { id: ConnectionId(self.number()), presence: self.clone(), hub: Arc::downgrade(hub) }
    }

    /// Notes a call that could not end at once.
    pub(crate) fn begin(self: &Arc<Self>, run: Arc<Shared>) -> Underway {
        let number = self.number();
        self.runs().insert(number, (run, Instant::now()));
        Underway { number, presence: self.clone() }
    }

    /// All connections, oldest first.
    pub(crate) fn all(&self) -> Vec<ConnectionInfo> {
        let mut all: Vec<ConnectionInfo> = self.connections().values().cloned().collect();
        all.sort_unstable_by_key(|info| info.id);
        all
    }

    /// All runs, oldest first.
    pub(crate) fn running(&self) -> Vec<RunInfo> {
        let mut all: Vec<(u64, RunInfo)> =
            self.runs().iter().map(|(number, (run, since))| (*number, run.info(since.elapsed()))).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, info)| info).collect()
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<ConnectionId, ConnectionInfo>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, QuickMap<u64, (Arc<Shared>, Instant)>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client that comes to stay.
#[derive(Debug, Clone)]
pub struct NewConnection {
    /// How it is connected.
    pub transport: Transport,
    /// Who it is.
    pub principal: Arc<Principal>,
    /// Its process, where it is one of this machine that we know.
    pub process: Option<u32>,
}

/// A client that is connected for as long as this lives.
pub struct Connected {
    id: ConnectionId,
    presence: Arc<Presence>,
    hub: Weak<Inner>,
}

impl Connected {
    /// Its number.
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Remembers what it calls itself.
    pub fn named(&self, name: ClientName) {
        if let Some(info) = self.presence.connections().get_mut(&self.id) {
            info.client = Some(name);
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let gone = self.presence.connections().remove(&self.id);
        // Nobody will answer what it was asked.
        if let Some(hub) = self.hub.upgrade() {
            hub.leave(self.id);
        }
        if let Some(info) = gone {
            tracing::debug!(connection = %self.id, transport = ?info.transport, "connection closed");
        }
    }
}

/// A call that runs for as long as this lives.
pub(crate) struct Underway {
    number: u64,
    presence: Arc<Presence>,
}

impl Drop for Underway {
    fn drop(&mut self) {
        let run = self.presence.runs().remove(&self.number);
        // It may be the last that holds the run, so not under the lock.
        drop(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_short_and_without_control_characters() {
        #[track_caller]
        fn check(info: &'static str, expect: Option<(&str, &str)>) {
            let name = ClientName::read(&Raw::literal(info), &Filters::default());
            let name = name.as_ref().map(|name| (name.name.as_str(), name.version.as_str()));
            assert_eq!(name, expect, "{info}");
        }
        check(r#"{"name":"claude-code","version":"2.1"}"#, Some(("claude-code", "2.1")));
        check(r#"{"name":"x"}"#, Some(("x", "")));
        check(r#"{"name":"a\u001b[2Jb\n","version":7}"#, Some(("a[2Jb", "")));
        check(r#"{"version":"1"}"#, None);
        check(r#"{"name":""}"#, None);
        check("[]", None);
        let long = Raw::of(&serde_json::json!({"name": "ü".repeat(500), "version": "1".repeat(500)}));
        let name = ClientName::read(&long, &Filters::default()).unwrap();
        assert_eq!((name.name.chars().count(), name.version.len()), (LONGEST_NAME, LONGEST_NAME));
    }
}

//! What a legacy connection remembers: who is there, what they watch, what runs, and what they were asked.

mod questions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use toolgate_core::{
    Ask, Capabilities, Client, ClientName, Connected, ConnectionId, Error, Hub, Kind, LogLevel,
    NewConnection, Principal, SourceId, Transport,
};
use toolgate_wire::{Id, Notification, Raw, Response, Version, method};

pub(crate) use questions::{Posed, heard};
use questions::{Questions, question_number};

/// How many resources one connection may watch.
const MOST_WATCHED: usize = 1000;

/// A resource that a client watches.
pub(crate) struct Watched {
    pub(crate) uri: Arc<str>,
    /// Where it is watched.
    pub(crate) source: Option<SourceId>,
}

impl Watched {
    /// Whether it may have changed with those of a source, or of any.
    pub(crate) fn may_be_of(&self, source: Option<&SourceId>) -> bool {
        source.is_none() || self.source.is_none() || self.source.as_ref() == source
    }
}

/// Why a request is refused whose id another one has.
pub(crate) const IN_USE: &str = "this id is in use by a request that still runs";

/// What a legacy connection remembers. Idle, it is a few hundred bytes.
pub(crate) struct Peer {
    pub(crate) principal: Arc<Principal>,
    pub(crate) profile: Option<Arc<str>>,
    connected: OnceLock<Connected>,
    state: Mutex<State>,
}

struct State {
    client: Arc<Client>,
    /// What the client calls itself, until it shows among those that are connected.
    name: Option<ClientName>,
    named: bool,
    greeted: bool,
    level: LogLevel,
    watched: Vec<Watched>,
    runs: HashMap<Id, CancellationToken>,
    questions: Questions,
}

impl Peer {
    pub(crate) fn new(principal: Arc<Principal>, profile: Option<Arc<str>>, transport: Transport) -> Self {
        let state = State {
            client: Arc::new(Client::unknown(transport)),
            name: None,
            named: false,
            greeted: false,
            level: LogLevel::Info,
            watched: Vec::new(),
            runs: HashMap::new(),
            questions: Questions::default(),
        };
        Self { principal, profile, connected: OnceLock::new(), state: Mutex::new(state) }
    }

    /// From now on the client shows among those that are connected, until the connection is forgotten.
    pub(crate) fn enter(&self, hub: &Hub, process: Option<u32>) {
        let (transport, name) = {
            let mut state = self.lock();
            (state.client.transport, state.name.take())
        };
        let connected = hub.connect(NewConnection { transport, principal: self.principal.clone(), process });
        if let Some(name) = name {
            connected.named(name);
        }
        // One that has entered before stays who it was.
        drop(self.connected.set(connected));
    }

    /// The number under which the client shows among those that are connected.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.connected.get().map(Connected::id)
    }

    /// Whether the client has said what it calls itself.
    pub(crate) fn is_named(&self) -> bool {
        self.lock().named
    }

    /// Remembers what the client calls itself.
    pub(crate) fn introduce(&self, name: ClientName) {
        let mut state = self.lock();
        state.named = true;
        match self.connected.get() {
            Some(connected) => connected.named(name),
            None => state.name = Some(name),
        }
    }

    /// Numbers questions from here on, so that they are never taken for those of another hub before this one.
    pub(crate) fn ask_from(&self, number: u64) {
        self.lock().questions.number_from(number);
    }

    /// Takes the client's introduction; tells the version to answer with.
    pub(crate) fn greet(&self, hub: &Hub, params: &Raw) -> Version {
        let wanted = params.get("protocolVersion");
        let wanted = wanted.as_ref().and_then(Raw::as_string).unwrap_or_default();
        let version = Version::negotiate(&wanted);
        let capabilities = params.get("capabilities").map(|raw| Capabilities::read(&raw)).unwrap_or_default();
        let extensions = params.path(&["capabilities", "extensions"]).map(|raw| raw.detach());
        let name = params.get("clientInfo").and_then(|info| hub.client_name(&info));
        let mut state = self.lock();
        let (transport, known) = (state.client.transport, name.clone().map(Arc::new));
        state.client =
            Arc::new(Client { version, capabilities, transport, reachable: true, name: known, extensions });
        state.greeted = true;
        drop(state);
        if let Some(name) = name {
            self.introduce(name);
        }
        version
    }

    pub(crate) fn client(&self) -> Arc<Client> {
        self.lock().client.clone()
    }

    /// The version agreed on, once there was a handshake.
    pub(crate) fn version(&self) -> Option<Version> {
        let state = self.lock();
        state.greeted.then_some(state.client.version)
    }

    pub(crate) fn level(&self) -> LogLevel {
        self.lock().level
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.lock().level = level;
    }

    /// Remembers that the client watches a resource.
    pub(crate) fn watch(&self, watched: Watched) -> Result<(), Error> {
        self.unwatch(&watched.uri);
        let mut state = self.lock();
        if state.watched.len() >= MOST_WATCHED {
            return Err(Error::new(
                Kind::InvalidParams,
                format!("this connection watches {MOST_WATCHED} resources"),
            )
            .hint("unsubscribe from some of them first"));
        }
        state.watched.push(watched);
        Ok(())
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.lock().watched.retain(|watched| *watched.uri != *uri);
    }

    pub(crate) fn watches(&self, uri: &str) -> bool {
        self.lock().watched.iter().any(|watched| *watched.uri == *uri)
    }

    /// What it watches at a source, or at any.
    pub(crate) fn watched(&self, source: Option<&SourceId>) -> Vec<Arc<str>> {
        let state = self.lock();
        let there = state.watched.iter().filter(|watched| watched.may_be_of(source));
        there.map(|watched| watched.uri.clone()).collect()
    }

    /// Remembers a run, so that it can be cancelled by the id of its request.
    pub(crate) fn began(self: &Arc<Self>, id: &Id, canceller: CancellationToken) -> Registered {
        self.lock().runs.insert(id.clone(), canceller);
        Registered { peer: self.clone(), id: id.clone() }
    }

    pub(crate) fn is_running(&self, id: &Id) -> bool {
        self.lock().runs.contains_key(id)
    }

    /// Takes a notification that means the same by whichever way it comes.
    pub(crate) fn notified(&self, hub: &Hub, notification: &Notification) {
        match (&*notification.method, self.connection()) {
            (method::CANCELLED, _) => self.cancel(notification.params.as_ref()),
            // A client that is not on this machine has no say in our folders, but other servers ask it for its own.
            (method::ROOTS_LIST_CHANGED, Some(connection)) => {
                hub.roots_changed_of(&self.principal, connection);
            }
            _ => tracing::debug!(method = %notification.method, "notification of no concern"),
        }
    }

    /// Cancels the run of a request; one that is unknown or over is none of our business.
    fn cancel(&self, params: Option<&Raw>) {
        let id = params.and_then(|params| params.get("requestId")).and_then(Id::new);
        if let Some(run) = id.and_then(|id| self.lock().runs.remove(&id)) {
            run.cancel();
        }
    }

    /// Cancels all that runs.
    pub(crate) fn cancel_all(&self) {
        for (_, run) in self.lock().runs.drain() {
            run.cancel();
        }
    }

    /// Puts questions to the client: the requests that do so, and what remembers them. Nothing, where nobody waits for
    /// the answers any more, or where it is asked too much already.
    pub(crate) fn ask(self: &Arc<Self>, ask: Ask) -> Option<(Posed, Vec<Bytes>)> {
        let mut state = self.lock();
        let keyed = state.client.capabilities.keyed_questions;
        let (first, frames) = state.questions.put(ask, keyed)?;
        Some((Posed { peer: self.clone(), first }, frames))
    }

    /// Takes the client's answer to a question; one that nobody asked, or that was taken back, is left out.
    pub(crate) fn answered(&self, response: Response) {
        let number = response.id.as_ref().and_then(question_number);
        let ended = number.and_then(|number| self.lock().questions.answered(number, response.outcome));
        if let Some((ask, answers)) = ended {
            ask.answer(answers);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that can be cancelled by the id of its request, for as long as this lives.
pub(crate) struct Registered {
    peer: Arc<Peer>,
    id: Id,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.peer.lock().runs.remove(&self.id);
    }
}

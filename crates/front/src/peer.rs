//! What a legacy connection remembers: who is there, what they watch, what runs, and what they were asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use toolgate_core::{
    Answers, Ask, Capabilities, Client, ClientName, Connected, ConnectionId, Error, Hub, Kind, LogLevel,
    NewConnection, Principal, Question, Transport,
};
use toolgate_wire::{Edit, Id, Raw, Response, Version, meta, write};

/// How many resources one connection may watch.
const MOST_WATCHED: usize = 1000;

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
    watched: Vec<Arc<str>>,
    runs: HashMap<Id, CancellationToken>,
    next_question: u64,
    questions: HashMap<u64, (Arc<Asking>, String)>,
}

/// Questions asked together, until the last of them is answered.
struct Asking(Mutex<Option<(Ask, Answers)>>);

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
            next_question: 0,
            questions: HashMap::new(),
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
        self.lock().next_question = number;
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

    /// Remembers, or forgets, that the client watches a resource.
    pub(crate) fn watch(&self, uri: &Arc<str>, watched: bool) -> Result<(), Error> {
        let mut state = self.lock();
        state.watched.retain(|old| old != uri);
        if watched && state.watched.len() >= MOST_WATCHED {
            return Err(Error::new(
                Kind::InvalidParams,
                format!("this connection watches {MOST_WATCHED} resources"),
            )
            .hint("unsubscribe from some of them first"));
        }
        if watched {
            state.watched.push(uri.clone());
        }
        Ok(())
    }

    pub(crate) fn watches(&self, uri: &str) -> bool {
        self.lock().watched.iter().any(|watched| **watched == *uri)
    }

    /// Remembers a run, so that it can be cancelled by the id of its request.
    pub(crate) fn began(self: &Arc<Self>, id: &Id, canceller: CancellationToken) -> Registered {
        self.lock().runs.insert(id.clone(), canceller);
        Registered { peer: self.clone(), id: id.clone() }
    }

    pub(crate) fn is_running(&self, id: &Id) -> bool {
        self.lock().runs.contains_key(id)
    }

    /// Cancels the run of a request; one that is unknown or over is none of our business.
    pub(crate) fn cancel(&self, params: Option<&Raw>) {
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

    /// The requests that put these questions to the client.
    pub(crate) fn ask(&self, ask: Ask) -> Vec<Bytes> {
        let questions: Vec<Question> = ask.questions.clone();
        let asking = Arc::new(Asking(Mutex::new(Some((ask, Answers::default())))));
        let mut state = self.lock();
        let (count, keyed) = (questions.len(), state.client.capabilities.keyed_questions);
        let mut put = |question: Question| {
            state.next_question += 1;
            let number = state.next_question;
            let params = if keyed { with_key(&question, count) } else { question.params };
            state.questions.insert(number, (asking.clone(), question.key));
            write::request(&question_id(number), question.method, &params)
        };
        questions.into_iter().map(&mut put).collect()
    }

    /// Takes the client's answer to a question; one that nobody asked is left out.
    pub(crate) fn answered(&self, response: Response) {
        let number = response.id.as_ref().and_then(question_number);
        let Some((asking, key)) = number.and_then(|number| self.lock().questions.remove(&number)) else {
            tracing::debug!("an answer to no question");
            return;
        };
        asking.answer(key, response.outcome);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The params of a question with its key, and how many are asked together.
fn with_key(question: &Question, count: usize) -> Raw {
    let about = format!(r#"{{"key":{},"of":{count}}}"#, Raw::string(&question.key).as_str());
    let about = Raw::trusted(about.into());
    Edit::new(&question.params).set_in(meta::META, meta::TOOLGATE_QUESTION, about).finish()
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

impl Asking {
    fn answer(&self, key: String, outcome: Result<Raw, Raw>) {
        let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((ask, mut answers)) = asking.take() else { return };
        match outcome {
            Ok(answer) => answers.insert(key, answer),
            Err(error) => return ask.answer(Err(refused(&error))),
        }
        if ask.questions.iter().all(|question| answers.get(&question.key).is_some()) {
            ask.answer(Ok(answers));
        } else {
            *asking = Some((ask, answers));
        }
    }
}

fn refused(error: &Raw) -> Error {
    let message = error.get("message").and_then(|text| text.as_string().map(String::from));
    Error::new(Kind::Denied, format!("the client would not answer: {}", message.unwrap_or_default()))
}

/// Our ids are words, so that they never look like one of the client's.
fn question_id(number: u64) -> Id {
    Id::text(&format!("toolgate-{number}"))
}

fn question_number(id: &Id) -> Option<u64> {
    id.raw().as_string()?.strip_prefix("toolgate-")?.parse().ok()
}

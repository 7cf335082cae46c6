//! The desk of one connection: what is asked and not yet answered, and where everything goes that the server sends.

mod audience;
mod changed;
mod given_up;
mod inbox;
mod incoming;
mod listened;
mod outbox;
mod said;
mod served;
mod visits;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgate_core::{ConnectionId, Principal, RunHandle};
use toolgate_wire::{Id, Raw, method, write};

use crate::fault::Fault;
use crate::journal::Journal;
use crate::link::Declared;
use crate::updates::Updates;

use audience::Audience;
use given_up::GivenUp;
use inbox::Inbox;
use listened::Listened;
use visits::Visits;

pub(crate) use changed::Changed;
pub(crate) use inbox::Told;
pub(crate) use incoming::declined;
pub(crate) use outbox::Out;
pub(crate) use said::{Named, Question, Said};

/// How often a connection that takes nothing new is looked after.
const DRAIN: Duration = Duration::from_millis(100);

/// After how many requests in a row, during which it said nothing at all, a server is taken for dead.
const SILENCES: u32 = 3;

/// How many questions may wait for the first call, and how long each may be.
const EARLY: usize = 8;
const EARLY_BYTES: usize = 64 * 1024;

/// How long an id may be that a server gives to anything.
const LONGEST_ID: usize = 1024;

/// How long it may be what a server says of a changed resource; nothing but that it changed is told of more.
const LONGEST_UPDATE: usize = 4 * 1024;

/// How many names calls may have on one connection.
const MOST_NAMED: usize = 1000;

struct Waiting {
    answer: oneshot::Sender<Result<Raw, Fault>>,
    events: Option<Inbox>,
    caller: Caller,
    left: Arc<AtomicBool>,
    /// How much the server has said for it.
    served: u64,
}

/// Whose call it is, if that is known: what one call of a client asks, the same client may be asked for another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller(Option<(Arc<Principal>, Option<ConnectionId>)>);

impl Caller {
    pub(crate) fn of(run: &RunHandle) -> Self {
        Self(Some((run.principal().clone(), run.connection())))
    }

    /// Whether both are known, and the same.
    fn is(&self, other: &Self) -> bool {
        let same = self.0.as_ref().zip(other.0.as_ref());
        same.is_some_and(|((one, here), (other, there))| one.id == other.id && here == there)
    }
}

/// What all tasks of one connection share.
pub(crate) struct Desk {
    next: AtomicU64,
    state: Mutex<State>,
    outbox: mpsc::Sender<Out>,
    declared: Declared,
    changed: Mutex<Changed>,
    pub(crate) noticed: Arc<Notify>,
    updates: Arc<Updates>,
    closed: CancellationToken,
    /// How much the server has said, and how many requests in a row it let pass without a word.
    heard: AtomicU64,
    silences: AtomicU32,
    /// How much of that was for calls.
    served: AtomicU64,
    pub(crate) journal: Arc<Journal>,
    /// Whether giving up is told by a notification.
    pub(crate) says_cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    calls: usize,
    given_up: GivenUp,
    /// Questions that came before any call.
    early: Vec<Question>,
    /// What names a call that waits.
    named: HashMap<Named, u64>,
    visits: Visits,
    audience: Audience,
    listened: Option<Listened>,
    /// Whether the last notice of changed folders has left.
    roots_told: Option<Arc<AtomicBool>>,
    ended: Option<String>,
}

/// What a connection reports to those who keep it.
pub(crate) struct Reports {
    pub(crate) noticed: Arc<Notify>,
    pub(crate) updates: Arc<Updates>,
    pub(crate) journal: Arc<Journal>,
}

/// The place of one request on the desk; dropped before the answer, it tells the server to stop.
pub(crate) struct Ticket {
    desk: Arc<Desk>,
    pub(crate) id: u64,
    pub(crate) answer: oneshot::Receiver<Result<Raw, Fault>>,
    pub(crate) events: Option<mpsc::Receiver<Box<Told>>>,
    pub(crate) left: Arc<AtomicBool>,
    pub(crate) cancellable: bool,
    /// It will leave, if it has not, before anything that is sent from now on.
    pub(crate) handed_over: bool,
    /// For how long the server may be at it when it is given up.
    pub(crate) lingers: Option<Duration>,
    /// How much the server had said before.
    heard: u64,
    /// How many requests it had let pass without a word.
    silences: u32,
    /// How much it had said for calls.
    served: u64,
}

impl Desk {
    pub(crate) fn new(outbox: mpsc::Sender<Out>, declared: Declared, reports: &Reports) -> Arc<Self> {
        Arc::new(Self {
            next: AtomicU64::new(1),
            state: Mutex::default(),
            outbox,
            declared,
            changed: Mutex::default(),
            noticed: reports.noticed.clone(),
            updates: reports.updates.clone(),
            closed: CancellationToken::new(),
            heard: AtomicU64::new(0),
            silences: AtomicU32::new(0),
            served: AtomicU64::new(0),
            journal: reports.journal.clone(),
            says_cancelled: AtomicBool::new(true),
        })
    }

    /// Takes a place for a request; with a caller it is a call, with which events and questions may come.
    pub(crate) fn place(self: &Arc<Self>, caller: Option<Caller>) -> Result<Ticket, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        let (mut events_in, events) = caller.as_ref().map(|_| Inbox::new()).unzip();
        let left = Arc::new(AtomicBool::new(false));
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            return Err(Fault::NotSent(why.clone()));
        }
        if let Some(events) = &mut events_in {
            state.calls += 1;
            for question in std::mem::take(&mut state.early) {
                // There is room for the few that may be here.
                drop(events.open().put(Said::Asked(question)));
            }
        }
        let caller = caller.unwrap_or_default();
        let waiting = Waiting { answer: sender, events: events_in, caller, left: left.clone(), served: 0 };
        state.waiting.insert(id, waiting);
        let served = self.served();
        drop(state);
        let (heard, silences) = (self.heard.load(Ordering::Relaxed), self.silences.load(Ordering::Relaxed));
        Ok(Ticket {
            desk: self.clone(),
            id,
            answer,
            events,
            left,
            cancellable: true,
            handed_over: false,
            lingers: None,
            heard,
            silences,
            served,
        })
    }

    /// The connection takes nothing new; what is under way may still be answered.
    pub(crate) fn retire(&self, why: &str) {
        self.lock().ended.get_or_insert_with(|| why.to_owned());
        self.closed.cancel();
    }

    /// The server has said something.
    fn hears(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.silences.store(0, Ordering::Relaxed);
    }

    /// Waits until nothing is under way any more.
    pub(crate) async fn drained(&self) {
        while !self.lock().waiting.is_empty() {
            tokio::time::sleep(DRAIN).await;
        }
    }

    /// The connection has ended; all that waits learns why.
    pub(crate) fn close(&self, why: &str) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(|| why.to_owned());
        let waiting: Vec<Waiting> = std::mem::take(&mut state.waiting).into_values().collect();
        state.calls = 0;
        drop(state);
        for waiting in waiting {
            let left = waiting.left.load(Ordering::Acquire);
            let fault = if left { Fault::Gone(why.to_owned()) } else { Fault::NotSent(why.to_owned()) };
            // Who asked may have given up at the same moment.
            drop(waiting.answer.send(Err(fault)));
        }
        self.closed.cancel();
    }

    /// Waits for the end, and says why.
    pub(crate) async fn ended(&self) -> String {
        self.closed.cancelled().await;
        self.lock().ended.clone().unwrap_or_default()
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.closed.is_cancelled()
    }

    /// Whether a request is still waited for.
    pub(crate) fn waits(&self, id: u64) -> bool {
        self.lock().waiting.contains_key(&id)
    }

    /// What the server names so belongs to this call, for as long as it waits.
    pub(crate) fn name(&self, named: Named, id: u64) {
        self.lock().name(named, id);
    }

    /// How many calls are under way.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls
    }

    /// Ends a request; gives the outcome back if nobody waits for it.
    pub(crate) fn answer(&self, id: u64, outcome: Result<Raw, Fault>) -> Option<Result<Raw, Fault>> {
        let Some(waiting) = self.lock().leave(id) else { return Some(outcome) };
        if waiting.events.is_some() {
            self.serves();
        }
        // Who asked may have given up at the same moment.
        waiting.answer.send(outcome).err()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The only call that waits.
    fn only_call(&self) -> Option<(u64, &Caller)> {
        let mut calls = self.waiting.iter().filter(|(_, waiting)| waiting.events.is_some());
        let (id, waiting) = calls.next().filter(|_| self.calls == 1)?;
        Some((*id, &waiting.caller))
    }

    fn name(&mut self, named: Named, id: u64) {
        let is_short = named.id().len() <= LONGEST_ID;
        if is_short && self.named.len() < MOST_NAMED && self.waiting.contains_key(&id) {
            self.named.insert(named, id);
        }
    }

    /// Takes a request off the desk, with all that names it.
    fn leave(&mut self, id: u64) -> Option<Waiting> {
        let Some(waiting) = self.waiting.remove(&id) else {
            self.given_up.remove(id);
            return None;
        };
        if waiting.events.is_some() {
            self.calls -= 1;
            self.named.retain(|_, other| *other != id);
        }
        Some(waiting)
    }
}

impl Ticket {
    /// No answer came in time. A server that says nothing at all is asked whether it is there; one from which still
    /// nothing comes is of no use, and the next call gets another.
    pub(crate) fn late(&self) {
        let desk = &self.desk;
        if desk.heard.load(Ordering::Relaxed) != self.heard {
            return;
        }
        // Those that ran side by side are one silence: only one that began after the last counts again.
        let count = self.silences + 1;
        if desk.silences.compare_exchange(self.silences, count, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        if count >= SILENCES {
            desk.journal.note("does not answer any more", "");
            return desk.retire("it does not answer any more");
        }
        // Whatever it answers, if only that it does not know the method, it is there.
        let id = desk.next.fetch_add(1, Ordering::Relaxed);
        desk.post(write::request(&Id::number(id), method::PING, &Raw::EMPTY_OBJECT));
    }

    /// Takes a request that nobody waits for any more off the desk, unless it is answered. What the server then says
    /// may belong to it, if it is a call that `is_there`.
    fn leave(&self, is_there: bool) -> bool {
        let mut state = self.desk.lock();
        let Some(waiting) = state.leave(self.id) else { return false };
        if let Some(time) = self.lingers.filter(|_| is_there && waiting.events.is_some()) {
            state.given_up.add(self.id, waiting.caller, Instant::now() + time);
        }
        true
    }

    fn give_up(&mut self) {
        let is_there = self.handed_over || self.left.load(Ordering::Acquire);
        if !self.leave(is_there) {
            // The answer may be here, and nobody has looked at it.
            if let Ok(Ok(result)) = self.answer.try_recv() {
                self.desk.unwanted(&result);
            }
            return;
        }
        let told = self.desk.says_cancelled.load(Ordering::Relaxed) && self.cancellable;
        if told && is_there {
            let params = Raw::trusted(format!(r#"{{"requestId":{}}}"#, self.id).into());
            self.desk.post(write::notification(method::CANCELLED, Some(&params)));
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests;

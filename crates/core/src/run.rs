//! A call under way: the caller's end (`Run`) and the source's end (`RunHandle`).

mod afterwards;
mod carried;
mod deadline;
mod handle;
mod queue;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgate_wire::Raw;

use crate::ask::Ask;
use crate::hub::Inner;
use crate::{
    Call, Client, ConnectionId, Error, Kind, LogLevel, Outcome, Pass, Principal, RunInfo, SourceId, Target,
    TaskRequest, TimeLimit,
};
use carried::Carried;
use deadline::Deadline;

pub use afterwards::Afterwards;
pub use handle::RunHandle;
pub(crate) use queue::Queued;
use queue::{EVENTS, Room};

/// What a run tells its caller.
#[derive(Debug)]
pub enum Event {
    /// How far it is.
    Progress(Progress),
    /// A message for the client's log.
    Log(Log),
    /// A question for the client.
    Ask(Ask),
    /// Any other notification that belongs to this call.
    Other {
        /// Its method.
        method: Arc<str>,
        /// Its params.
        params: Raw,
    },
    /// The stream may close while the call goes on: a client that can come back does so for the rest.
    HangUp,
    /// The end; nothing follows.
    Done(Outcome),
}

/// How far a run is: an object with `progress`, and perhaps `total` and `message`, but no token.
#[derive(Debug, Clone)]
pub struct Progress(pub Raw);

impl Progress {
    /// Progress towards a total, with a word on it.
    pub fn new(progress: f64, total: Option<f64>, message: Option<&str>) -> Self {
        let mut object = serde_json::Map::new();
        object.insert("progress".into(), number(progress));
        if let Some(total) = total {
            object.insert("total".into(), number(total));
        }
        if let Some(message) = message {
            object.insert("message".into(), message.into());
        }
        Self(Raw::of(&object))
    }
}

/// Whole numbers are written without a fraction, as clients expect of counts.
fn number(value: f64) -> serde_json::Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
    if value.fract() == 0.0 && value.abs() < 9e15 { (value as i64).into() } else { value.into() }
}

/// A message for the client's log.
#[derive(Debug, Clone)]
pub struct Log {
    /// How severe it is.
    pub level: LogLevel,
    /// The params of the notification: `level`, `data`, and perhaps `logger`.
    pub params: Raw,
}

/// What both ends of a run share.
pub(crate) struct Shared {
    pub(crate) hub: Arc<Inner>,
    pub(crate) principal: Arc<Principal>,
    pass: Option<Pass>,
    pub(crate) target: Target,
    pub(crate) params: Raw,
    profile: Option<Arc<str>>,
    nested: bool,
    /// The code that it runs, or that made it.
    code: OnceLock<Arc<str>>,
    connection: Option<ConnectionId>,
    client: Mutex<Arc<Client>>,
    detached: AtomicBool,
    /// Answers that came with the call before anything was asked.
    seeds: Mutex<Option<Raw>>,
    operation: OnceLock<String>,
    /// Where large events wait.
    room: Room,
    cancel: CancellationToken,
    deadline: Deadline,
    /// How long it may take from when it is last seen to get on; nothing where the caller set a limit.
    renewed: Option<Duration>,
    /// How long its source may take, which counts where it is more.
    source: OnceLock<TimeLimit>,
    /// The source that it watches something at.
    watches_at: OnceLock<SourceId>,
    /// Whether it waits for a place at its source.
    queued: AtomicBool,
    /// What its client said that wants it to be a task.
    pub(crate) task: Option<TaskRequest>,
}

/// The caller's end of a run. Dropping it before the end cancels the run.
pub struct Run {
    /// Boxed, because a channel makes room for many at once and most calls send none.
    events: mpsc::Receiver<Box<Queued>>,
    /// One that was received already, before the end.
    received: Option<Box<Queued>>,
    finished: Option<Outcome>,
    over: bool,
    /// The call itself, as long as whoever waits for it carries it.
    carried: Option<Carried>,
    pub(crate) shared: Arc<Shared>,
}

/// Makes both ends of a run for a call; what let the call in is the run's from here on.
pub(crate) fn pair(call: &mut Call, hub: &Arc<Inner>) -> (Run, RunHandle) {
    let (sender, events) = mpsc::channel(EVENTS);
    let shared = Arc::new(Shared {
        hub: hub.clone(),
        principal: call.principal.clone(),
        pass: call.pass.take(),
        target: call.target.clone(),
        params: call.params.clone(),
        profile: call.profile.clone(),
        nested: call.nested,
        code: call.code.clone().map(OnceLock::from).unwrap_or_default(),
        connection: call.connection,
        client: Mutex::new(call.client.clone()),
        detached: AtomicBool::new(false),
        seeds: Mutex::new(call.resume.as_ref().and_then(|resume| resume.responses.clone())),
        operation: OnceLock::new(),
        room: Room::default(),
        cancel: CancellationToken::new(),
        deadline: Deadline::after(hub.time_limit(call)),
        renewed: call.time_limit.is_none().then(|| hub.time_limit(call)),
        source: OnceLock::new(),
        watches_at: OnceLock::new(),
        queued: AtomicBool::new(false),
        task: call.task,
    });
    let run =
        Run { events, received: None, finished: None, over: false, carried: None, shared: shared.clone() };
    (run, RunHandle::new(shared, sender))
}

impl Run {
    /// The next event. After `Done` there is none; there is no `Done` where the hub was shut down.
    pub async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        let event = match self.carry().await {
            Some(said) => said,
            None => self.received().await?,
        };
        self.over = matches!(event, Event::Done(_));
        Some(event)
    }

    async fn received(&mut self) -> Option<Event> {
        if let Some(queued) = self.received.take() {
            return Some(queued.event);
        }
        let Some(outcome) = self.finished.take() else {
            return self.events.recv().await.map(|queued| queued.event);
        };
        // What was sent before the end comes before the end.
        Some(match self.events.try_recv() {
            Ok(queued) => {
                self.finished = Some(outcome);
                queued.event
            }
            Err(_) => Event::Done(outcome),
        })
    }

    /// Stops the run; its outcome will say `cancelled`.
    pub fn cancel(&self) {
        self.shared.cancel.cancel();
    }

    /// A token that stops the run, for whoever keeps a table of runs.
    pub fn canceller(&self) -> CancellationToken {
        self.shared.cancel.clone()
    }

    /// Whether someone cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_cancelled()
    }

    /// Whether it waits for a person right now, so that its clock stands still.
    pub fn is_held(&self) -> bool {
        self.shared.deadline.is_held()
    }

    /// What it does, in words for people.
    pub fn operation(&self) -> &str {
        self.shared.operation()
    }

    /// Waits for the end, leaving out all that comes before it; questions are not answered.
    pub async fn outcome(mut self) -> Outcome {
        while let Some(event) = self.next().await {
            if let Event::Done(outcome) = event {
                return outcome;
            }
        }
        Outcome::Failed(Error::new(Kind::Internal, "the call ended without an outcome"))
    }

    /// As [`Run::outcome`], for who wants to watch something: with the source that it is watched at.
    pub async fn watched(self) -> (Outcome, Option<SourceId>) {
        let shared = self.shared.clone();
        let outcome = self.outcome().await;
        (outcome, shared.watches_at.get().cloned())
    }

    /// Ends a run that never left its caller.
    pub(crate) fn finish(&mut self, outcome: Outcome) {
        self.finished = Some(outcome);
    }

    /// A new request goes on with this run: its client, its time limit.
    pub(crate) fn reattach(&self, call: &Call, limit: Duration) {
        let limit = if call.time_limit.is_some() { limit } else { self.shared.at_least(limit) };
        *self.shared.client.lock().unwrap_or_else(PoisonError::into_inner) = call.client.clone();
        self.shared.deadline.restart(limit);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.shared.detached.load(Ordering::Acquire) {
            self.shared.cancel.cancel();
        }
        // What was cancelled is still recorded.
        self.hand_over();
    }
}

impl Shared {
    /// Cancels the run, whoever holds it.
    pub(crate) fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// A limit that no caller set, or that of the source where it is more.
    fn at_least(&self, limit: Duration) -> Duration {
        self.source.get().map_or(limit, |source| limit.max(source.limit))
    }

    /// Whether what let it in was taken back.
    pub(crate) fn is_revoked(&self) -> bool {
        self.pass.as_ref().is_some_and(Pass::is_revoked)
    }

    /// Completes when what let it in was taken back.
    pub(crate) async fn revoked(&self) {
        match &self.pass {
            Some(pass) => pass.revoked().await,
            None => std::future::pending().await,
        }
    }

    /// The lasting connection that the call came in by, if any.
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// The client, as of its latest request.
    pub(crate) fn client(&self) -> Arc<Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What people are told about it while it runs.
    pub(crate) fn info(&self, elapsed: Duration) -> RunInfo {
        RunInfo {
            target: self.target.clone(),
            principal: self.principal.clone(),
            transport: self.client().transport,
            connection: self.connection,
            elapsed,
        }
    }

    pub(crate) fn operation(&self) -> &str {
        self.operation.get().map_or_else(|| self.target.kind(), String::as_str)
    }
}

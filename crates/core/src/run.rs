//! A call under way: the caller's end (`Run`) and the source's end (`RunHandle`).

mod deadline;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};
use toolgate_wire::Raw;

use crate::ask::{Answers, Ask, Question};
use crate::hub::Inner;
use crate::{Call, Client, Error, Kind, LogLevel, Outcome, Principal, Result, Target};
use deadline::Deadline;

/// How many events may wait for the client before the source has to.
const EVENTS: usize = 32;

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
    pub(crate) target: Target,
    pub(crate) params: Raw,
    client: ArcSwap<Client>,
    /// Where events go: to the caller, or to the table of tasks once the run is one.
    events: Mutex<mpsc::Sender<Event>>,
    detached: AtomicBool,
    /// Answers that came with the call before anything was asked.
    seeds: Mutex<Option<Raw>>,
    operation: OnceLock<String>,
    cancel: CancellationToken,
    deadline: Deadline,
}

/// The caller's end of a run. Dropping it before the end cancels the run.
pub struct Run {
    events: mpsc::Receiver<Event>,
    finished: Option<Outcome>,
    pub(crate) shared: Arc<Shared>,
}

/// The source's end of a run.
#[derive(Clone)]
pub struct RunHandle {
    shared: Arc<Shared>,
}

/// Makes both ends of a run for a call.
pub(crate) fn pair(call: &Call, hub: &Arc<Inner>) -> (Run, RunHandle) {
    let (sender, events) = mpsc::channel(EVENTS);
    let shared = Arc::new(Shared {
        hub: hub.clone(),
        principal: call.principal.clone(),
        target: call.target.clone(),
        params: call.params.clone(),
        client: ArcSwap::new(call.client.clone()),
        events: Mutex::new(sender),
        detached: AtomicBool::new(false),
        seeds: Mutex::new(call.resume.as_ref().and_then(|resume| resume.responses.clone())),
        operation: OnceLock::new(),
        cancel: CancellationToken::new(),
        deadline: Deadline::after(hub.time_limit(call)),
    });
    (Run { events, finished: None, shared: shared.clone() }, RunHandle { shared })
}

impl Run {
    /// The next event. After `Done` there is none.
    pub async fn next(&mut self) -> Option<Event> {
        // What was sent before the end comes before the end.
        if let Some(outcome) = self.finished.take() {
            let Ok(event) = self.events.try_recv() else {
                return Some(Event::Done(outcome));
            };
            self.finished = Some(outcome);
            return Some(event);
        }
        self.events.recv().await
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

    /// Ends a run that never left its caller.
    pub(crate) fn finish(&mut self, outcome: Outcome) {
        self.finished = Some(outcome);
    }

    /// A new request goes on with this run: its client, its time limit.
    pub(crate) fn reattach(&self, client: Arc<Client>, limit: Duration) {
        self.shared.client.store(client);
        self.shared.deadline.set(Instant::now() + limit);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.shared.detached.load(Ordering::Acquire) {
            self.shared.cancel.cancel();
        }
    }
}

impl Shared {
    pub(crate) fn operation(&self) -> &str {
        self.operation.get().map_or_else(|| self.target.kind(), String::as_str)
    }
}

impl RunHandle {
    /// The client at the other end, as of its latest request.
    pub fn client(&self) -> Arc<Client> {
        self.shared.client.load_full()
    }

    /// Who calls.
    pub fn principal(&self) -> &Arc<Principal> {
        &self.shared.principal
    }

    /// Whether JSON texts are to be written without indentation.
    pub fn compact(&self) -> bool {
        self.shared.hub.settings.load().compact
    }

    /// Completes when the caller gave up.
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.shared.cancel.cancelled()
    }

    /// Says how far it is. Waits while the client reads slowly.
    pub async fn progress(&self, progress: Progress) {
        self.send(Event::Progress(Progress(self.shared.hub.filters.json(progress.0)))).await;
    }

    /// Writes to the client's log: any JSON value as `data`.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: &Raw) {
        let mut params = format!(r#"{{"level":"{}""#, level.as_str());
        if let Some(logger) = logger {
            params.push_str(r#","logger":"#);
            params.push_str(Raw::string(logger).as_str());
        }
        params.push_str(r#","data":"#);
        params.push_str(data.as_str());
        params.push('}');
        let params = self.shared.hub.filters.json(Raw::trusted(params.into()));
        self.send(Event::Log(Log { level, params })).await;
    }

    /// Passes on another notification that belongs to this call.
    pub async fn other(&self, method: &str, params: Raw) {
        self.send(Event::Other { method: method.into(), params: self.shared.hub.filters.json(params) }).await;
    }

    /// Asks the client and waits for all the answers. The time it takes does not count as the call's.
    ///
    /// Answers that came with the call itself are used first; they are still only what the client says.
    pub async fn ask(&self, questions: Vec<Question>) -> Result<Answers> {
        let seeds = self.shared.seeds.lock().unwrap_or_else(PoisonError::into_inner).take();
        let seed = |question: &Question| seeds.as_ref()?.get(&question.key).filter(Question::is_answer);
        let mut known = Answers::default();
        let mut open = Vec::new();
        for question in questions {
            match seed(&question) {
                Some(answer) => known.insert(question.key, answer),
                None => open.push(question),
            }
        }
        if !open.is_empty() {
            known.extend(self.ask_now(open).await?);
        }
        Ok(known)
    }

    /// Asks the client, whatever it has said before.
    pub(crate) async fn ask_now(&self, mut questions: Vec<Question>) -> Result<Answers> {
        let client = self.client();
        for question in &mut questions {
            question.answerable_by(&client.capabilities)?;
            question.params = self.shared.hub.filters.json(question.params.clone());
        }
        if !client.reachable {
            return Err(Error::new(
                Kind::MissingCapability,
                "this connection cannot carry a question to the client",
            )
            .hint("connect over stdio, or over HTTP with a session"));
        }
        let longest = self.shared.hub.settings.load().ask_time_limit;
        let left = self.shared.deadline.pause(longest);
        let (ask, answered) = Ask::new(questions);
        self.send(Event::Ask(ask)).await;
        let answers = tokio::time::timeout(longest, answered).await;
        self.shared.deadline.set(Instant::now() + left);
        match answers {
            Ok(Ok(answers)) => answers,
            Ok(Err(_)) => Err(Error::new(Kind::Cancelled, "the client went away before it answered")),
            Err(_) => Err(Error::new(Kind::Timeout, "nobody answered the question in time")),
        }
    }

    /// Goes on as a task from here: the caller gets its description now and the result later.
    ///
    /// Does nothing where the client does not understand tasks, or the run is one already.
    pub async fn detach(&self) -> Result<()> {
        let shared = &self.shared;
        if !self.client().capabilities.tasks || shared.detached.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let (sender, events) = mpsc::channel(EVENTS);
        let created = shared.hub.tasks.adopt(shared, events)?;
        let limit = shared.hub.settings.load().task_time_limit;
        shared.deadline.set(Instant::now() + limit);
        let caller =
            std::mem::replace(&mut *shared.events.lock().unwrap_or_else(PoisonError::into_inner), sender);
        // A caller that has gone away does not learn the task's id, and nobody misses it.
        drop(caller.send(Event::Done(Outcome::Task(created))).await);
        Ok(())
    }

    pub(crate) fn names(&self, operation: &str) {
        drop(self.shared.operation.set(operation.to_owned()));
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.shared.detached.load(Ordering::Acquire)
    }

    pub(crate) async fn expired(&self) {
        self.shared.deadline.expired().await;
    }

    pub(crate) async fn done(&self, outcome: Outcome) {
        self.send(Event::Done(outcome)).await;
    }

    async fn send(&self, event: Event) {
        let events = self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A caller that has gone away misses nothing.
        drop(events.send(event).await);
    }
}

impl Shared {
    /// Cancels the run, whoever holds it.
    pub(crate) fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }
}

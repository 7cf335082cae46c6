//! The source's end of a run.

use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::WaitForCancellationFuture;
use toolgate_host::Alarm;
use toolgate_wire::{Edit, Raw};

use super::{Afterwards, EVENTS, Event, Log, Progress, Queued, Shared};
use crate::ask::{Answers, Ask, Question};
use crate::{
    Call, Client, ConnectionId, Error, Hub, Kind, ListKind, LogLevel, Outcome, Principal, Result, Run, Scope,
    Source, Target, TimeLimit, ToolName, View,
};

/// The source's end of a run.
#[derive(Clone)]
pub struct RunHandle {
    pub(super) shared: Arc<Shared>,
    /// Where events go: to the caller, or to the table of tasks once the run is one. Only this end holds it, so
    /// that the other end notices when a run is gone.
    events: Arc<Mutex<mpsc::Sender<Box<Queued>>>>,
}

impl RunHandle {
    pub(super) fn new(shared: Arc<Shared>, events: mpsc::Sender<Box<Queued>>) -> Self {
        Self { shared, events: Arc::new(Mutex::new(events)) }
    }

    /// The client at the other end, as of its latest request.
    pub fn client(&self) -> Arc<Client> {
        self.shared.client()
    }

    /// Who calls.
    pub fn principal(&self) -> &Arc<Principal> {
        &self.shared.principal
    }

    /// What the call is for.
    pub fn target(&self) -> &Target {
        &self.shared.target
    }

    /// The params as they were sent.
    pub(crate) fn params(&self) -> &Raw {
        &self.shared.params
    }

    /// The lasting connection that the call came in by, if any.
    pub fn connection(&self) -> Option<ConnectionId> {
        self.shared.connection
    }

    /// Whether a source makes this call while it answers another.
    pub fn is_nested(&self) -> bool {
        self.shared.nested
    }

    /// The catalog as whoever calls sees it, as a list of tools would show it.
    pub async fn view(&self) -> Arc<View> {
        let profile = self.shared.profile.as_ref();
        self.shared.hub.settled(self.principal(), profile, ListKind::Tools).await
    }

    /// Says which code this call is to run, with its hash: the record names it, also with what the code calls.
    pub fn runs(&self, code: impl Into<Arc<str>>) {
        // Who says so twice has said it.
        drop(self.shared.code.set(code.into()));
    }

    /// The code that it runs, or that made it.
    pub(crate) fn code(&self) -> Option<&Arc<str>> {
        self.shared.code.get()
    }

    /// Calls a tool for whoever calls: as the same principal, from the same client, in the same view, and judged,
    /// limited and recorded like any other call. Only the caller's own pace does not count it, which counted the call
    /// that it is for: the source bounds how often it does this.
    pub fn start(&self, tool: ToolName, arguments: Raw) -> Run {
        let shared = &self.shared;
        let empty = Raw::EMPTY_OBJECT;
        let params = Edit::new(&empty).set("name", Raw::string(tool.as_str()));
        let params = params.set("arguments", arguments.clone()).finish();
        let mut client = Client::clone(&self.client());
        // Whoever waits for it wants its answer, and cannot come back for it.
        client.capabilities.tasks = false;
        Hub::of(self.shared.hub.clone()).start(Call {
            arguments: Some(arguments),
            profile: shared.profile.clone(),
            connection: shared.connection,
            // It is a tool of a source, whatever its name: one that searches would go around who chose the tools.
            via_search: true,
            nested: true,
            code: self.code().cloned(),
            ..Call::new(shared.principal.clone(), client.into(), Target::Tool(tool), params)
        })
    }

    /// Puts the question of such a call to the client of this one, and hands it the answers. Where that call does not
    /// wait for them any more, neither does this one.
    pub async fn pass_on(&self, mut ask: Ask) {
        let questions = ask.questions.clone();
        tokio::select! {
            answers = self.ask_now(questions) => ask.answer(answers),
            () = poll_fn(|context| ask.poll_over(context)) => {}
        }
    }

    /// The way to its client after it has ended, where that is a lasting connection.
    pub fn afterwards(&self) -> Option<Afterwards> {
        let scope = Scope { principal: self.principal().id.clone() };
        self.connection().map(|connection| Afterwards::new(&self.shared.hub, scope, connection))
    }

    /// Whether JSON texts are to be written without indentation.
    pub fn compact(&self) -> bool {
        self.shared.hub.settings.load().compact
    }

    /// Completes when the caller gave up.
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.shared.cancel.cancelled()
    }

    /// An alarm beside the call. It may ring a tenth of a second late.
    pub fn alarm(&self, due: Instant) -> Alarm<'_> {
        self.shared.hub.alarms.at(due)
    }

    /// Begins the time of the call anew, since it is seen to get on: it may take as long as it does so. A limit that the
    /// caller set, or that of a task, stays.
    pub fn gets_on(&self) {
        if let Some(limit) = self.limit() {
            self.shared.deadline.restart(limit);
        }
    }

    /// How long it may take, where neither its caller nor that it is a task says so.
    fn limit(&self) -> Option<Duration> {
        let usual = self.shared.renewed.filter(|_| !self.is_detached())?;
        Some(self.shared.at_least(usual))
    }

    /// Notes where it goes, and lets it take as long as its source may, where that is more.
    pub(crate) fn goes_to(&self, source: &dyn Source) {
        if let Target::Subscribe(_) = self.target() {
            drop(self.shared.watches_at.set(source.id().clone()));
        }
        let Some(own) = source.time_limit() else { return };
        let before = self.limit();
        // It goes to one source only.
        drop(self.shared.source.set(own));
        if let Some(limit) = self.limit().filter(|limit| before.is_some_and(|before| before < *limit)) {
            self.shared.deadline.restart(limit);
        }
    }

    /// Notes whether it waits for a place at its source.
    pub(crate) fn is_queued(&self, queued: bool) {
        self.shared.queued.store(queued, Ordering::Release);
    }

    /// Why it has come to its end, and what to do about it.
    pub(crate) fn too_long(&self) -> Error {
        let error = Error::new(Kind::Timeout, "the call took too long");
        // More time would not help where too many want the same.
        if self.shared.queued.load(Ordering::Acquire) {
            return error
                .hint("it still waited for its turn, as too many calls are under way: call again later");
        }
        match self.limit().zip(self.shared.source.get()) {
            Some((limit, TimeLimit { setting, .. })) => {
                error.hint(format!("set `{setting}` to more than {} if it needs longer", limit.as_millis()))
            }
            None => error,
        }
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
        self.log_as_is(level, Raw::trusted(params.into())).await;
    }

    /// Writes to the client's log what another server wrote, with all that it said beside.
    pub async fn log_as_is(&self, level: LogLevel, params: Raw) {
        let params = self.shared.hub.filters.json(params);
        self.send(Event::Log(Log { level, params })).await;
    }

    /// Passes on another notification that belongs to this call, unless its very method has to be hidden.
    pub async fn other(&self, method: &str, params: Raw) {
        if !self.shared.hub.filters.lets_pass(method) {
            tracing::warn!("a notification was left out, since a filter would change its method");
            return;
        }
        self.send(Event::Other { method: method.into(), params: self.shared.hub.filters.json(params) }).await;
    }

    /// Lets the stream of the call close while it goes on; where a client cannot come back, nothing happens.
    pub async fn hang_up(&self) {
        self.send(Event::HangUp).await;
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
            // The answer comes back under its key, so that it cannot be another one.
            if !self.shared.hub.filters.lets_pass(&question.key) {
                return Err(Error::new(Kind::Upstream, "the key of a question holds what must not go out"));
            }
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
        let (ask, answered) = Ask::new(questions);
        let asking = async {
            self.send(Event::Ask(ask)).await;
            answered.await
        };
        let _held = self.shared.deadline.hold();
        match tokio::time::timeout(longest, asking).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(_)) => Err(Error::new(Kind::Cancelled, "the client went away before it answered")),
            Err(_) => Err(Error::new(Kind::Timeout, "nobody answered the question in time")),
        }
    }

    /// Goes on as a task from here: the caller gets its description now and the result later.
    ///
    /// Does nothing where the client does not understand tasks, or the run is one already.
    pub async fn detach(&self) -> Result<()> {
        if self.client().takes_tasks() { self.become_task().await } else { Ok(()) }
    }

    /// Goes on as a task from here, unless it is one already; its client has to understand tasks.
    pub(crate) async fn become_task(&self) -> Result<()> {
        let shared = &self.shared;
        if shared.detached.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let (sender, events) = mpsc::channel(EVENTS);
        let adopted = shared.hub.tasks.adopt(shared, events);
        let (created, limit) = adopted.inspect_err(|_| shared.detached.store(false, Ordering::Release))?;
        shared.deadline.restart(limit);
        let caller =
            std::mem::replace(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner), sender);
        // A caller that has gone away does not learn the task's id, and nobody misses it.
        drop(caller.send(shared.room.take(Event::Done(Outcome::Task(created))).await).await);
        Ok(())
    }

    /// Whether its caller has a task, or would take one for an answer.
    pub fn may_be_task(&self) -> bool {
        self.is_detached() || self.client().takes_tasks()
    }

    pub(crate) fn names(&self, operation: &str) {
        let operation = self.shared.hub.filters.text(operation).unwrap_or_else(|| operation.to_owned());
        drop(self.shared.operation.set(operation));
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.shared.detached.load(Ordering::Acquire)
    }

    /// Stops the clock of the call while what this returns lives.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.shared.deadline.hold()
    }

    pub(crate) async fn expired(&self) {
        self.shared.deadline.expired(&self.shared.hub.alarms).await;
    }

    pub(crate) async fn done(&self, outcome: Outcome) {
        self.send(Event::Done(outcome)).await;
    }

    async fn send(&self, event: Event) {
        let queued = self.shared.room.take(event).await;
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A caller that has gone away misses nothing.
        drop(events.send(queued).await);
    }
}

//! One task: where it stands, what it asks, how it ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use toolgate_wire::{Era, Id, Raw, meta};

use super::ListPlace;
use super::open::Opens;
use super::wait::Told;
use crate::reply::{Written, error_result, written};
use crate::run::{Queued, Shared};
use crate::{Change, Error, Event, Kind, Outcome, PrincipalId, Question, Scope, Settings, TaskChange};

/// The shortest time for which a task is kept, however short its caller wants it.
const SHORTEST: Duration = Duration::from_secs(1);

pub(super) struct Entry {
    pub(super) id: Arc<str>,
    pub(super) run: Arc<Shared>,
    pub(super) created_ms: u64,
    /// How long it may take.
    limit: Duration,
    /// How long it is kept after its end.
    kept_ms: u64,
    /// How long it is kept from its beginning, whatever happens, where its caller wanted it so.
    wanted_ms: Option<u64>,
    /// What progress notifications of its call must carry.
    pub(super) token: Option<Id>,
    progress: Mutex<Progress>,
    /// Tells those who wait for the result to look again.
    pub(super) moved: watch::Sender<()>,
}

/// What changes while a task lives.
pub(super) struct Progress {
    pub(super) updated_ms: u64,
    pub(super) message: Option<String>,
    pub(super) opens: Opens,
    pub(super) end: Option<End>,
    /// Those who wait for the result hear what is said meanwhile.
    pub(super) attending: Vec<mpsc::Sender<Told>>,
}

pub(super) enum End {
    Completed(Raw),
    Failed(Raw),
    Cancelled,
}

impl Entry {
    pub(super) fn new(id: Arc<str>, run: Arc<Shared>, now_ms: u64) -> Self {
        let settings = run.hub.settings.load();
        let most = settings.task_time_limit.saturating_add(settings.task_ttl);
        let wanted = run.task.and_then(|task| task.ttl).map(|ttl| ttl.clamp(SHORTEST.min(most), most));
        let limit = wanted.map_or(settings.task_time_limit, |ttl| ttl.min(settings.task_time_limit));
        let kept_ms = ms(settings.task_ttl);
        drop(settings);
        let token = run.params.path(&[meta::META, meta::PROGRESS_TOKEN]).and_then(Id::new);
        let progress = Progress {
            updated_ms: now_ms,
            message: None,
            opens: Opens::default(),
            end: None,
            attending: Vec::new(),
        };
        Self {
            id,
            run,
            created_ms: now_ms,
            limit,
            kept_ms,
            wanted_ms: wanted.map(ms),
            token,
            progress: Mutex::new(progress),
            moved: watch::Sender::default(),
        }
    }

    /// How long it may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Where it stands in a list.
    pub(super) fn place(&self) -> ListPlace {
        (self.created_ms, self.id.clone())
    }

    pub(super) fn settings(&self) -> Arc<Settings> {
        self.run.hub.settings.load_full()
    }

    /// Tells its principal where it stands, and those who wait for it to look again.
    pub(super) fn tell(&self) {
        self.moved.send_replace(());
        if self.run.hub.changes.receiver_count() == 0 {
            return;
        }
        let change = TaskChange {
            scope: Scope { principal: self.principal().clone() },
            id: self.id.clone(),
            connection: self.run.connection(),
            detail: self.detail(),
            state: self.state(),
        };
        drop(self.run.hub.changes.send(Change::Task(Arc::new(change))));
    }

    pub(super) fn principal(&self) -> &PrincipalId {
        &self.run.principal.id
    }

    /// The time by the clock of its hub.
    fn now(&self) -> u64 {
        self.run.hub.clock.unix_ms()
    }

    /// Whether its time is over, so that it can go.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        if let Some(wanted_ms) = self.wanted_ms {
            return self.created_ms.saturating_add(wanted_ms) < now_ms;
        }
        let progress = self.lock();
        progress.end.is_some() && progress.updated_ms.saturating_add(self.kept_ms) < now_ms
    }

    pub(super) fn is_over_now(&self) -> bool {
        self.is_over(self.now())
    }

    /// Stops it; tells whether the state changed.
    pub(super) fn cancel(&self) -> bool {
        let mut progress = self.lock();
        if progress.end.is_some() {
            return false;
        }
        progress.opens.clear();
        progress.end = Some(End::Cancelled);
        progress.updated_ms = self.now();
        self.run.canceller().cancel();
        true
    }

    /// Takes in the events of the run up to its end.
    pub(super) async fn follow(&self, events: &mut mpsc::Receiver<Box<Queued>>) {
        while let Some(queued) = events.recv().await {
            let done = matches!(queued.event, Event::Done(_));
            if self.take(queued.event) {
                self.tell();
            }
            if done {
                return;
            }
        }
    }

    /// Takes in an event of the run; tells whether the state changed.
    pub(super) fn take(&self, event: Event) -> bool {
        let mut progress = self.lock();
        if progress.end.is_some() {
            return false;
        }
        match event {
            Event::Progress(step) => {
                let message = step.0.get("message").and_then(|text| text.as_string().map(Into::into));
                let is_news = message.is_some() && message != progress.message;
                progress.message = message.or(progress.message.take());
                progress.say(Told::Progress(step));
                if !is_news {
                    return false;
                }
            }
            Event::Log(log) => {
                progress.say(Told::Log(log));
                return false;
            }
            Event::Other { method, params } => {
                progress.say(Told::Other(method, params));
                return false;
            }
            Event::HangUp => return false,
            Event::Ask(ask) => progress.opens.ask(ask),
            Event::Done(outcome) => {
                let legacy = self.run.client().era() == Era::Legacy;
                progress.end = Some(end(outcome, self.run.operation(), legacy));
            }
        }
        progress.updated_ms = self.now();
        true
    }

    /// Takes answers by key, leaving out unknown and answered keys; tells whether the state changed.
    pub(super) fn update(&self, responses: &Raw) -> bool {
        let mut progress = self.lock();
        let answers = responses.entries().filter(|(_, answer)| Question::is_answer(answer));
        let taken = answers.filter(|(key, answer)| progress.opens.answer(key, answer)).count();
        if taken == 0 {
            return false;
        }
        progress.opens.settle();
        progress.updated_ms = self.now();
        true
    }

    /// Those who asked learn that these questions get no answer; tells whether the state changed.
    pub(super) fn refuse(&self, keys: &[String], error: Error) -> bool {
        let mut progress = self.lock();
        let refused = progress.opens.refuse(keys, error);
        if refused {
            progress.updated_ms = self.now();
        }
        refused
    }

    /// How long it is kept, counted from its beginning: a client may give up on it after that.
    pub(super) fn ttl_ms(&self, progress: &Progress) -> u64 {
        if let Some(wanted_ms) = self.wanted_ms {
            return wanted_ms;
        }
        let taken = match progress.end {
            Some(_) => progress.updated_ms.saturating_sub(self.created_ms),
            None => ms(self.limit),
        };
        taken.saturating_add(self.kept_ms)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Progress> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.opens.forget();
        progress
    }
}

impl Progress {
    /// Passes on what the run says to those who wait; who cannot keep up misses some of it.
    fn say(&mut self, told: Told) {
        self.attending.retain(|waits| !waits.is_closed());
        self.attending.iter().for_each(|waits| drop(waits.try_send(told.clone())));
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn end(outcome: Outcome, operation: &str, legacy: bool) -> End {
    match outcome {
        Outcome::Complete(result) => End::Completed(result),
        Outcome::Failed(error) if error.kind() == Kind::Cancelled => End::Cancelled,
        // The code of this error means nothing to a legacy client.
        Outcome::Failed(error) if legacy && error.kind() == Kind::MissingCapability => {
            End::Completed(error_result(&error, operation))
        }
        Outcome::Failed(error) => match written(&error, operation) {
            Written::Result(result) => End::Completed(result),
            Written::Error(error) => End::Failed(error),
        },
        Outcome::InputRequired { .. } | Outcome::Task(_) => {
            let error = Error::new(Kind::Internal, "a task cannot end in a question or another task");
            match written(&error, operation) {
                Written::Result(raw) | Written::Error(raw) => End::Failed(raw),
            }
        }
    }
}

//! One task: where it stands, what it asks, how it ended.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgate_wire::{Edit, Raw};

use crate::ask::Ask;
use crate::reply::{Written, written};
use crate::run::Shared;
use crate::{Answers, Change, Error, Event, Kind, Outcome, PrincipalId, Question, Scope};

/// How long a client should wait between two looks.
const POLL_MS: u32 = 500;

pub(super) struct Entry {
    id: Arc<str>,
    run: Arc<Shared>,
    created_ms: u64,
    /// How long it may take.
    limit_ms: u64,
    /// How long it is kept after its end.
    kept_ms: u64,
    progress: Mutex<Progress>,
}

/// What changes while a task lives.
struct Progress {
    updated_ms: u64,
    message: Option<String>,
    open: Vec<Open>,
    used_keys: HashSet<String>,
    end: Option<End>,
}

/// Questions asked together, under keys that this task has never used before.
struct Open {
    ask: Ask,
    keys: Vec<String>,
    answers: Answers,
}

enum End {
    Completed(Raw),
    Failed(Raw),
    Cancelled,
}

impl Entry {
    pub(super) fn new(id: Arc<str>, run: Arc<Shared>, now_ms: u64) -> Self {
        let settings = run.hub.settings.load();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (limit_ms, kept_ms) = (ms(settings.task_time_limit), ms(settings.task_ttl));
        drop(settings);
        let progress = Progress {
            updated_ms: now_ms,
            message: None,
            open: Vec::new(),
            used_keys: HashSet::new(),
            end: None,
        };
        Self { id, run, created_ms: now_ms, limit_ms, kept_ms, progress: Mutex::new(progress) }
    }

    /// Tells its principal where it stands.
    pub(super) fn tell(&self) {
        let scope = Scope { principal: self.principal().clone() };
        // Without listeners there is nobody to tell.
        drop(self.run.hub.changes.send(Change::Task(scope, self.id.clone(), self.detail())));
    }

    pub(super) fn principal(&self) -> &PrincipalId {
        &self.run.principal.id
    }

    /// The time by the clock of its hub.
    fn now(&self) -> u64 {
        self.run.hub.clock.unix_ms()
    }

    /// Whether it ended so long ago that it can go.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        let progress = self.lock();
        progress.end.is_some() && progress.updated_ms.saturating_add(self.kept_ms) < now_ms
    }

    /// Stops it; tells whether the state changed.
    pub(super) fn cancel(&self) -> bool {
        let mut progress = self.lock();
        if progress.end.is_some() {
            return false;
        }
        progress.open.clear();
        progress.end = Some(End::Cancelled);
        progress.updated_ms = self.now();
        self.run.canceller().cancel();
        true
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
                progress.message = message.or(progress.message.take());
            }
            Event::Ask(ask) => progress.ask(ask),
            Event::Done(outcome) => progress.end = Some(end(outcome, self.run.operation())),
            Event::Log(_) | Event::Other { .. } | Event::HangUp => return false,
        }
        progress.updated_ms = self.now();
        true
    }

    /// Takes answers by key, leaving out unknown and answered keys; tells whether the state changed.
    pub(super) fn update(&self, responses: &Raw) -> bool {
        let mut progress = self.lock();
        let answers = responses.entries().filter(|(_, answer)| Question::is_answer(answer));
        let taken = answers.filter(|(key, answer)| progress.answer(key, answer)).count();
        if taken == 0 {
            return false;
        }
        for open in std::mem::take(&mut progress.open) {
            if open.is_complete() {
                open.ask.answer(Ok(open.answers));
            } else {
                progress.open.push(open);
            }
        }
        progress.updated_ms = self.now();
        true
    }

    /// The description that answers the call which began it.
    pub(super) fn created(&self) -> Raw {
        let mut object = self.head(&self.lock());
        object.insert("resultType".into(), "task".into());
        Raw::of(&object)
    }

    /// The whole description: what is asked, or how it ended.
    pub(super) fn detail(&self) -> Raw {
        let progress = self.lock();
        let head = Raw::of(&self.head(&progress));
        let (name, value) = match &progress.end {
            Some(End::Completed(result)) => ("result", result.clone()),
            Some(End::Failed(error)) => ("error", error.clone()),
            None if !progress.open.is_empty() => ("inputRequests", progress.requests()),
            Some(End::Cancelled) | None => return head,
        };
        Edit::new(&head).set(name, value).finish()
    }

    fn head(&self, progress: &Progress) -> Map<String, Value> {
        let status = match &progress.end {
            Some(End::Completed(_)) => "completed",
            Some(End::Failed(_)) => "failed",
            Some(End::Cancelled) => "cancelled",
            None if progress.open.is_empty() => "working",
            None => "input_required",
        };
        let mut object = Map::new();
        object.insert("taskId".into(), json!(&*self.id));
        object.insert("status".into(), json!(status));
        if let Some(message) = &progress.message {
            object.insert("statusMessage".into(), json!(message));
        }
        object.insert("createdAt".into(), json!(crate::time::iso8601(self.created_ms)));
        object.insert("lastUpdatedAt".into(), json!(crate::time::iso8601(progress.updated_ms)));
        object.insert("ttlMs".into(), json!(self.ttl_ms(progress)));
        object.insert("pollIntervalMs".into(), json!(POLL_MS));
        object
    }

    /// How long it is kept, counted from its beginning: a client may give up on it after that.
    fn ttl_ms(&self, progress: &Progress) -> u64 {
        let taken = match progress.end {
            Some(_) => progress.updated_ms.saturating_sub(self.created_ms),
            None => self.limit_ms,
        };
        taken.saturating_add(self.kept_ms)
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asked may have given up.
        progress.open.retain(|open| !open.ask.is_over());
        progress
    }
}

impl Progress {
    fn ask(&mut self, ask: Ask) {
        let keys = ask.questions.iter().map(|question| unused(&mut self.used_keys, &question.key)).collect();
        self.open.push(Open { ask, keys, answers: Answers::default() });
    }

    /// Takes an answer; tells whether it was asked for and not there yet.
    fn answer(&mut self, key: &str, answer: &Raw) -> bool {
        for open in &mut self.open {
            let place = open.keys.iter().position(|name| name == key);
            if let Some(question) = place.and_then(|place| open.ask.questions.get(place)) {
                let new = open.answers.get(&question.key).is_none();
                if new {
                    open.answers.insert(question.key.clone(), answer.clone());
                }
                return new;
            }
        }
        false
    }

    fn requests(&self) -> Raw {
        let unanswered: Vec<Question> = self.open.iter().flat_map(Open::unanswered).collect();
        crate::parking::requests(unanswered.iter())
    }
}

impl Open {
    fn is_complete(&self) -> bool {
        self.unanswered().next().is_none()
    }

    fn unanswered(&self) -> impl Iterator<Item = Question> {
        let both = self.ask.questions.iter().zip(&self.keys);
        both.filter(|(question, _)| self.answers.get(&question.key).is_none())
            .map(|(question, key)| Question { key: key.clone(), ..question.clone() })
    }
}

/// A key this task has not used yet, as near to the wanted one as can be.
fn unused(used: &mut HashSet<String>, wanted: &str) -> String {
    let mut key = wanted.to_owned();
    let mut count = 1;
    while !used.insert(key.clone()) {
        count += 1;
        key = format!("{wanted}-{count}");
    }
    key
}

fn end(outcome: Outcome, operation: &str) -> End {
    match outcome {
        Outcome::Complete(result) => End::Completed(result),
        Outcome::Failed(error) if error.kind() == Kind::Cancelled => End::Cancelled,
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

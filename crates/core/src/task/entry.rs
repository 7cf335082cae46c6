//! One task: where it stands, what it asks, how it ended.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use toolgate_wire::Raw;

use crate::ask::Ask;
use crate::reply::{Written, written};
use crate::run::Shared;
use crate::{Answers, Error, Event, Kind, Outcome, PrincipalId, Question};

/// How long a client should wait between two looks.
const POLL_MS: u32 = 500;

pub(super) struct Entry {
    id: Arc<str>,
    run: Arc<Shared>,
    created_ms: u64,
    ttl_ms: u64,
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
        let ttl = run.hub.settings.load().task_ttl;
        let progress = Progress {
            updated_ms: now_ms,
            message: None,
            open: Vec::new(),
            used_keys: HashSet::new(),
            end: None,
        };
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        Self { id, run, created_ms: now_ms, ttl_ms, progress: Mutex::new(progress) }
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) fn principal(&self) -> &PrincipalId {
        &self.run.principal.id
    }

    /// The time by the clock of its hub.
    pub(super) fn now(&self) -> u64 {
        self.run.hub.clock.unix_ms()
    }

    /// Whether it ended so long ago that it can go.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        let progress = self.lock();
        progress.end.is_some() && progress.updated_ms.saturating_add(self.ttl_ms) < now_ms
    }

    pub(super) fn cancel(&self) {
        let mut progress = self.lock();
        if progress.end.is_none() {
            progress.open.clear();
            progress.end = Some(End::Cancelled);
            self.run.canceller().cancel();
        }
    }

    /// Takes in an event of the run; tells whether the state changed.
    pub(super) fn take(&self, event: Event, now_ms: u64) -> bool {
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
            Event::Log(_) | Event::Other { .. } => return false,
        }
        progress.updated_ms = now_ms;
        true
    }

    /// Takes answers by key; unknown and answered keys are left out.
    pub(super) fn update(&self, responses: &Raw, now_ms: u64) {
        let mut progress = self.lock();
        for (key, answer) in responses.entries() {
            progress.answer(&key, answer);
        }
        for open in std::mem::take(&mut progress.open) {
            if open.is_complete() {
                open.ask.answer(Ok(open.answers));
            } else {
                progress.open.push(open);
            }
        }
        progress.updated_ms = now_ms;
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
        let mut object = self.head(&progress);
        let (name, value) = match &progress.end {
            Some(End::Completed(result)) => ("result", result.clone()),
            Some(End::Failed(error)) => ("error", error.clone()),
            None if !progress.open.is_empty() => ("inputRequests", progress.requests()),
            Some(End::Cancelled) | None => return Raw::of(&object),
        };
        object.insert(name.into(), value.to().unwrap_or_default());
        Raw::of(&object)
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
        object.insert("ttlMs".into(), json!(self.ttl_ms));
        object.insert("pollIntervalMs".into(), json!(POLL_MS));
        object
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn ask(&mut self, ask: Ask) {
        let keys = ask.questions.iter().map(|question| unused(&mut self.used_keys, &question.key)).collect();
        self.open.push(Open { ask, keys, answers: Answers::default() });
    }

    fn answer(&mut self, key: &str, answer: Raw) {
        for open in &mut self.open {
            let place = open.keys.iter().position(|name| name == key);
            if let Some(question) = place.and_then(|place| open.ask.questions.get(place)) {
                open.answers.insert(question.key.clone(), answer);
                return;
            }
        }
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

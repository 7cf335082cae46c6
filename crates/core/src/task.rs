//! Tasks: runs that go on by themselves while their caller looks in from time to time.

mod entry;
mod form;
mod open;
mod wait;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use toolgate_wire::{Era, Raw};

use crate::cursor;
use crate::run::{Queued, Shared};
use crate::seal::random_bytes;
use crate::{Error, Kind, Outcome, Permitted, PrincipalId, Result, RunHandle, Target, TaskOp};
use entry::Entry;

/// Every task, by id.
#[derive(Default)]
pub(crate) struct TaskTable {
    tasks: Mutex<HashMap<Arc<str>, Arc<Entry>>>,
}

impl TaskTable {
    /// Makes a run a task: its events come here from now on. Returns its description, and how long it may take.
    pub(crate) fn adopt(
        &self,
        run: &Arc<Shared>,
        mut events: mpsc::Receiver<Box<Queued>>,
    ) -> Result<(Raw, Duration)> {
        let hub = run.hub.clone();
        let now = hub.clock.unix_ms();
        let id: Arc<str> =
            random_bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let entry = Arc::new(Entry::new(id.clone(), run.clone(), now));
        self.sweep(now);
        self.insert(id, &entry)?;
        let begun = (entry.created(), entry.limit());
        let owner = hub.owner.clone();
        owner.spawn(async move {
            tokio::select! {
                () = entry.follow(&mut events) => return,
                () = entry.run.revoked() => {}
            }
            if entry.cancel() {
                entry.tell();
            }
            entry.follow(&mut events).await;
        });
        Ok(begun)
    }

    fn insert(&self, id: Arc<str>, entry: &Arc<Entry>) -> Result<()> {
        let mut tasks = self.lock();
        let settings = entry.settings();
        let theirs = tasks.values().filter(|other| other.principal() == entry.principal()).count();
        if tasks.len() >= settings.max_tasks || theirs >= settings.max_tasks_each {
            return Err(Error::new(Kind::RateLimited, "too many tasks are kept").hint("try again later"));
        }
        tasks.insert(id, entry.clone());
        Ok(())
    }

    /// Answers what is asked about one task; `handle` is the end of the run that asks.
    pub(crate) async fn answer(&self, permitted: &Permitted, handle: &RunHandle) -> Result<Outcome> {
        let Target::Task(op, id) = permitted.target() else {
            return Err(Error::new(Kind::Internal, "this is no task"));
        };
        if !permitted.client().knows_tasks() {
            return Err(undeclared());
        }
        let entry = self.find(id, &permitted.principal().id)?;
        let legacy = permitted.client().era() == Era::Legacy;
        let changed = match op {
            TaskOp::Get if legacy => return Ok(Outcome::Complete(entry.state())),
            TaskOp::Get => return Ok(Outcome::Complete(entry.detail())),
            TaskOp::Result => return entry.wait(handle).await,
            TaskOp::Cancel => entry.cancel(),
            TaskOp::Update => {
                let responses = permitted.params().get("inputResponses").ok_or_else(|| {
                    Error::new(Kind::InvalidParams, "`inputResponses` is missing")
                        .hint("give one answer per key")
                })?;
                entry.update(&responses)
            }
        };
        if changed {
            entry.tell();
        }
        match (legacy, changed) {
            (false, _) => Ok(Outcome::Complete(Raw::literal("{}"))),
            (true, true) => Ok(Outcome::Complete(entry.state())),
            (true, false) => Err(Error::new(Kind::InvalidParams, "the task has ended already")),
        }
    }

    /// A page of the tasks of a principal, oldest first, as 2025-11-25 has them.
    pub(crate) fn page(
        &self,
        principal: &PrincipalId,
        cursor: Option<&str>,
        (now_ms, most): (u64, usize),
    ) -> Result<Raw> {
        let after = cursor.map(place_of).transpose()?;
        let is_theirs = |entry: &&Arc<Entry>| entry.principal() == principal && !entry.is_over(now_ms);
        let mut theirs: Vec<Arc<Entry>> = self.lock().values().filter(is_theirs).cloned().collect();
        theirs.sort_by_key(|entry| entry.place());
        let start = after.map_or(0, |after| theirs.partition_point(|entry| entry.place() <= after));
        let rest = theirs.get(start..).unwrap_or_default();
        let shown = rest.get(..most).unwrap_or(rest);
        let states: Vec<Raw> = shown.iter().map(|entry| entry.state()).collect();
        let states: Vec<&str> = states.iter().map(Raw::as_str).collect();
        let next = match shown.last().filter(|_| rest.len() > shown.len()) {
            Some(last) => format!(r#","nextCursor":"{}""#, cursor_of(&last.place())),
            None => String::new(),
        };
        Ok(Raw::trusted(format!(r#"{{"tasks":[{}]{next}}}"#, states.join(",")).into()))
    }

    /// Which of these tasks this principal may listen to.
    pub(crate) fn known(&self, ids: &[String], principal: &PrincipalId) -> Vec<String> {
        ids.iter().filter(|id| self.find(id, principal).is_ok()).cloned().collect()
    }

    /// How many are kept.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Lets go of all whose time is over, and stops those that still run.
    pub(crate) fn sweep(&self, now_ms: u64) {
        let mut tasks = self.lock();
        let gone: Vec<Arc<Entry>> =
            tasks.extract_if(|_, old| old.is_over(now_ms)).map(|(_, old)| old).collect();
        drop(tasks);
        gone.iter().filter(|old| old.cancel()).for_each(|old| old.tell());
    }

    fn find(&self, id: &str, principal: &PrincipalId) -> Result<Arc<Entry>> {
        let is_theirs = |entry: &&Arc<Entry>| entry.principal() == principal && !entry.is_over_now();
        let entry = self.lock().get(id).filter(is_theirs).cloned();
        entry.ok_or_else(|| {
            Error::new(Kind::InvalidParams, "unknown task")
                .hint("its id is wrong, or its time is over; call anew")
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Entry>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a task stands in a list: when it began, and its id.
type ListPlace = (u64, Arc<str>);

fn cursor_of((created, id): &ListPlace) -> String {
    cursor::seal(&format!("task\n{created}\n{id}"))
}

fn place_of(cursor: &str) -> Result<ListPlace> {
    let read = || {
        let plain = cursor::open(cursor)?;
        let (created, id) = plain.strip_prefix("task\n")?.split_once('\n')?;
        Some((created.parse().ok()?, id.into()))
    };
    read().ok_or_else(cursor::foreign)
}

/// The error for a client that did not declare the tasks extension.
pub fn undeclared() -> Error {
    let needed = r#"{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    Error::new(Kind::MissingCapability, "the client did not declare the tasks extension")
        .data(Raw::literal(needed))
}

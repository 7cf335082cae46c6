//! Tasks: runs that go on by themselves while their caller looks in from time to time.

mod entry;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use toolgate_wire::Raw;

use crate::run::Shared;
use crate::seal::random_bytes;
use crate::{Error, Event, Kind, Outcome, Permitted, PrincipalId, Result, Target, TaskOp};
use entry::Entry;

/// Every task, by id.
#[derive(Default)]
pub(crate) struct TaskTable {
    tasks: Mutex<HashMap<Arc<str>, Arc<Entry>>>,
}

impl TaskTable {
    /// Makes a run a task: its events come here from now on. Returns its description.
    pub(crate) fn adopt(&self, run: &Arc<Shared>, mut events: mpsc::Receiver<Box<Event>>) -> Result<Raw> {
        let hub = run.hub.clone();
        let now = hub.clock.unix_ms();
        let id: Arc<str> =
            random_bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let entry = Arc::new(Entry::new(id.clone(), run.clone(), now));
        {
            let mut tasks = self.lock();
            tasks.retain(|_, old| !old.is_over(now));
            if tasks.len() >= hub.settings.load().max_tasks {
                return Err(Error::new(Kind::RateLimited, "too many tasks are kept").hint("try again later"));
            }
            tasks.insert(id.clone(), entry.clone());
        }
        let created = entry.created();
        let owner = hub.owner.clone();
        owner.spawn(async move {
            while let Some(event) = events.recv().await {
                let done = matches!(*event, Event::Done(_));
                if entry.take(*event) {
                    entry.tell();
                }
                if done {
                    return;
                }
            }
        });
        Ok(created)
    }

    /// Answers `tasks/get`, `tasks/update` and `tasks/cancel`.
    pub(crate) fn answer(&self, permitted: &Permitted) -> Result<Outcome> {
        let Target::Task(op, id) = permitted.target() else {
            return Err(Error::new(Kind::Internal, "this is no task"));
        };
        if !permitted.client().capabilities.tasks {
            return Err(undeclared());
        }
        let entry = self.find(id, &permitted.principal().id)?;
        let changed = match op {
            TaskOp::Get => return Ok(Outcome::Complete(entry.detail())),
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
        Ok(Outcome::Complete(Raw::literal("{}")))
    }

    /// Which of these tasks this principal may listen to.
    pub(crate) fn known(&self, ids: &[String], principal: &PrincipalId) -> Vec<String> {
        ids.iter().filter(|id| self.find(id, principal).is_ok()).cloned().collect()
    }

    /// How many are kept.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Lets go of all whose time is over.
    pub(crate) fn sweep(&self, now_ms: u64) {
        self.lock().retain(|_, old| !old.is_over(now_ms));
    }

    fn find(&self, id: &str, principal: &PrincipalId) -> Result<Arc<Entry>> {
        let entry = self.lock().get(id).filter(|entry| entry.principal() == principal).cloned();
        entry.ok_or_else(|| {
            Error::new(Kind::InvalidParams, "unknown task")
                .hint("its id is wrong, or its time is over; call anew")
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Entry>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for a client that did not declare the tasks extension.
pub fn undeclared() -> Error {
    let needed = r#"{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    Error::new(Kind::MissingCapability, "the client did not declare the tasks extension")
        .data(Raw::literal(needed))
}

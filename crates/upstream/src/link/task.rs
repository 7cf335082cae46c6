//! Calls that their server runs as tasks, of either era: looked at until they have ended, and cancelled with the call.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use toolgate_core::{Error, Progress, Question, RunHandle, error_object};
use toolgate_wire::{Edit, Era, Raw, meta, method};

use super::exchange::{Beside, Happened};
use super::{Ask, Link};
use crate::desk::{Caller, Named, Said, Ticket, Told};
use crate::fault::{Fault, Silence, short};
use crate::open::modern_params;

/// How long to wait between two looks: what the server says, within these.
const SOONEST: Duration = Duration::from_millis(20);
const USUAL: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(10);

/// How many looks in a row may fail.
const FAILURES: usize = 3;

/// A person may take their time; the hub has a limit of its own.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// How long the server may take to agree that a task is cancelled.
const FAREWELL: Duration = Duration::from_secs(5);

/// One task of the server. Dropped before its end, it is cancelled.
struct Task<'a> {
    link: &'a Arc<Link>,
    id: String,
    run: &'a RunHandle,
    timeout: Duration,
    told: Option<String>,
    over: bool,
}

impl Link {
    /// Whether the server runs calls of tools as tasks if it is asked to.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.era() == Era::Legacy && self.facts.has(&["tasks", "requests", "tools", "call"])
    }

    /// Calls a tool as a task of a legacy server, and waits for its result.
    pub(crate) async fn call_as_task(
        self: &Arc<Self>,
        ask: Ask<'_>,
        run: &RunHandle,
        finish: impl FnOnce(Raw, u64) -> Raw,
    ) -> Result<Raw, Fault> {
        // What the server says and asks belongs to this place, from the first word to the result.
        let mut ticket = self.wire.desk.place(Some(Caller::of(run)))?;
        // It is not sent itself, but the server is at it.
        (ticket.handed_over, ticket.cancellable, ticket.lingers) = (true, false, Some(ask.timeout));
        let id = ticket.id;
        let params = finish(ask.params, id);
        let params = Edit::new(&params).set("task", Raw::EMPTY_OBJECT).finish();
        let (mut beside, moved) =
            (Beside::new(&self.wire.desk, ticket.events.take(), Some(run)), Notify::new());
        let working = async {
            let ask = Ask { params, run: None, ..ask };
            let timeout = ask.timeout;
            let created = self.wire.request(ask).await?;
            let Some(task) = created.get("task").filter(Raw::is_object) else { return Ok(created) };
            let mut state = Task::begin(self, &task, run, timeout)?;
            self.wire.desk.name(Named::Task(state.id.clone()), id);
            state.legacy(task, &moved).await.map_err(Fault::begun)
        };
        let mut working = pin!(working);
        loop {
            tokio::select! {
                biased;
                happened = beside.next() => {
                    if matches!(&happened, Happened::Said(Told { said: Said::TaskMoved, .. })) {
                        moved.notify_one();
                    }
                    beside.take(&self.wire, happened).await;
                }
                result = &mut working => {
                    ticket.lingers = ticket.lingers.filter(|_| matches!(result, Err(Fault::Late(_))));
                    return result.map_err(|fault| silent(fault, &ticket));
                }
            }
        }
    }

    /// Waits for the result of what a modern server has made a task.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        created: Raw,
        run: &RunHandle,
        timeout: Duration,
    ) -> Result<Raw, Fault> {
        let mut state = Task::begin(self, &created, run, timeout)?;
        state.modern(created).await.map_err(Fault::begun)
    }
}

impl<'a> Task<'a> {
    fn begin(link: &'a Arc<Link>, task: &Raw, run: &'a RunHandle, timeout: Duration) -> Result<Self, Fault> {
        let id = text(task, "taskId").ok_or_else(|| Fault::Unusable("a task without an id".into()))?;
        Ok(Self { link, id, run, timeout, told: None, over: false })
    }

    async fn legacy(&mut self, mut task: Raw, moved: &Notify) -> Result<Raw, Fault> {
        self.run.detach().await.map_err(fault_of)?;
        loop {
            let status = self.stands(&task).await?;
            let timeout = match &*status {
                "working" => None,
                // Its questions come while the result is waited for.
                "input_required" => Some(PATIENCE),
                _ => Some(self.timeout),
            };
            if let Some(timeout) = timeout {
                let result = self.request(method::TASKS_RESULT, self.params(), timeout).await;
                self.over = true;
                // That it was a task is between the server and us.
                return Ok(Edit::new(&result?).remove_in(meta::META, meta::RELATED_TASK).finish());
            }
            tokio::select! {
                () = tokio::time::sleep(pause(&task, "pollInterval")) => {}
                () = moved.notified() => {}
            }
            task = self.look().await?;
        }
    }

    async fn modern(&mut self, mut task: Raw) -> Result<Raw, Fault> {
        self.run.detach().await.map_err(fault_of)?;
        loop {
            match &*self.stands(&task).await? {
                "completed" => {
                    self.over = true;
                    return task.get("result").ok_or_else(|| unusable("without a result"));
                }
                "failed" => {
                    self.over = true;
                    let error = task.get("error").filter(Raw::is_object);
                    return Err(error.map_or_else(|| unusable("without an error"), Fault::Refused));
                }
                "input_required" => {
                    let requests = task.get("inputRequests").filter(Raw::is_object);
                    self.answer(&requests.unwrap_or(Raw::EMPTY_OBJECT)).await?;
                }
                _ => {}
            }
            tokio::time::sleep(pause(&task, "pollIntervalMs")).await;
            task = self.look().await?;
        }
    }

    /// How the task stands; what it says of that goes to a caller that has a task too.
    async fn stands(&mut self, task: &Raw) -> Result<String, Fault> {
        let said = text(task, "statusMessage");
        let is_news = said != self.told && self.run.may_be_task();
        if let Some(message) = said.as_ref().filter(|_| is_news) {
            self.run.progress(Progress::new(0.0, None, Some(message))).await;
        }
        self.told = said.or(self.told.take());
        let status = text(task, "status").ok_or_else(|| unusable("without a status"))?;
        match &*status {
            "working" | "input_required" | "completed" | "failed" => Ok(status),
            "cancelled" => {
                self.over = true;
                Err(Fault::Unusable("it cancelled the task".into()))
            }
            other => Err(unusable(&format!("that is `{}`", short(other)))),
        }
    }

    /// Looks how the task stands. A look may fail; what is looked at goes on.
    async fn look(&self) -> Result<Raw, Fault> {
        let mut failures = 0;
        loop {
            match self.request(method::TASKS_GET, self.params(), self.timeout).await {
                Err(fault) if fault.is_illness() && failures < FAILURES && self.link.wire.desk.is_open() => {
                    failures += 1;
                    tokio::time::sleep(USUAL).await;
                }
                answer => return answer,
            }
        }
    }

    /// Asks the caller what the task asks.
    async fn answer(&self, requests: &Raw) -> Result<(), Fault> {
        let questions: Vec<Question> =
            requests.entries().filter_map(|(key, request)| question(&key, &request)).collect();
        if questions.is_empty() {
            return Ok(());
        }
        let answers = self.run.ask(questions).await.map_err(fault_of)?;
        let params = Edit::new(&self.params()).set("inputResponses", answers.to_raw()).finish();
        self.request(method::TASKS_UPDATE, params, self.timeout).await.map(drop)
    }

    async fn request(&self, method: &str, params: Raw, timeout: Duration) -> Result<Raw, Fault> {
        self.link.wire.request(Ask::plain(method, params, timeout)).await
    }

    fn params(&self) -> Raw {
        let params = match self.link.era() {
            Era::Legacy => Raw::EMPTY_OBJECT,
            Era::Modern => modern_params(super::Declared::of(&self.run.client())),
        };
        Edit::new(&params).set("taskId", Raw::string(&self.id)).finish()
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        let able = self.link.era() == Era::Modern || self.link.facts.has(&["tasks", "cancel"]);
        if self.over || !able {
            return;
        }
        let (link, params) = (self.link.clone(), self.params());
        self.link.wire.tasks.spawn(async move {
            // A server that does not listen ends the task when its time is over.
            drop(link.wire.request(Ask::plain(method::TASKS_CANCEL, params, FAREWELL)).await);
        });
    }
}

/// Why there is no result: what the server said of the task itself before it fell silent was for no other call.
fn silent(fault: Fault, place: &Ticket) -> Fault {
    let Fault::Late(silence) = fault else { return fault };
    let serves_others = silence.serves_others && place.silence(silence.limit).serves_others;
    Fault::Late(Silence { serves_others, ..silence })
}

fn question(key: &str, request: &Raw) -> Option<Question> {
    let params = request.get("params").unwrap_or(Raw::EMPTY_OBJECT);
    match &*text(request, "method")? {
        method::ELICITATION_CREATE => Some(Question::elicit(key, params)),
        method::SAMPLING_CREATE_MESSAGE => Some(Question::sample(key, params)),
        method::ROOTS_LIST => Some(Question::roots(key)),
        _ => None,
    }
}

/// What the caller answered, or we could not do, as the server's answer to the call.
fn fault_of(error: Error) -> Fault {
    Fault::Refused(error_object(&error))
}

fn unusable(what: &str) -> Fault {
    Fault::Unusable(format!("a task {what}"))
}

fn pause(task: &Raw, key: &str) -> Duration {
    let said = task.get(key).and_then(|interval| interval.as_u64());
    said.map_or(USUAL, Duration::from_millis).clamp(SOONEST, LATEST)
}

fn text(raw: &Raw, key: &str) -> Option<String> {
    raw.get(key)?.as_string().map(Cow::into_owned)
}

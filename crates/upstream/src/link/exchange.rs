//! One request under way: its answer, what comes before it, and the time it may take.

use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Error, Kind, LogLevel, Progress, Question as Asked, RunHandle};
use toolgate_wire::{Edit, Era, Id, Raw, code, meta, method, write};

use super::{Ask, Wire};
use crate::desk::{Desk, Question, Said, Ticket, Told, declined};
use crate::fault::Fault;
use crate::transport::{Sending, Sent, Transport};

type Answering<'a> = Pin<Box<dyn Future<Output = (Vec<Id>, Vec<Bytes>)> + Send + 'a>>;

/// How many questions may be asked together.
const MOST_TOGETHER: u64 = 16;

/// What goes on beside the answer to a request: what the server says and asks meanwhile.
pub(super) struct Beside<'a> {
    desk: &'a Arc<Desk>,
    events: Option<mpsc::Receiver<Box<Told>>>,
    run: Option<&'a RunHandle>,
    /// Questions of the server that its caller has not answered yet. Most calls have none, and need no room for them.
    open: Option<FuturesUnordered<Answering<'a>>>,
    withdrawn: HashMap<Id, CancellationToken>,
    /// Questions that wait for others which are asked together with them.
    gathered: Vec<Question>,
}

/// One thing that happened beside the answer.
pub(super) enum Happened {
    Said(Told),
    Answered(Vec<Id>, Vec<Bytes>),
}

impl<'a> Beside<'a> {
    pub(super) fn new(
        desk: &'a Arc<Desk>,
        events: Option<mpsc::Receiver<Box<Told>>>,
        run: Option<&'a RunHandle>,
    ) -> Self {
        Self { desk, events, run, open: None, withdrawn: HashMap::new(), gathered: Vec::new() }
    }

    /// What happens next; it can be given up and waited for again.
    pub(super) async fn next(&mut self) -> Happened {
        tokio::select! {
            biased;
            told = next(&mut self.events) => Happened::Said(told),
            (ids, frames) = answered(&mut self.open) => Happened::Answered(ids, frames),
        }
    }

    /// Passes on what the server said before its answer, all of which is here by now.
    async fn hear_out(&mut self) {
        while let Some(told) = self.events.as_mut().and_then(|events| events.try_recv().ok()) {
            Box::pin(self.pass_on(*told)).await;
        }
    }

    /// Whether the server waits for an answer of its caller.
    fn asks(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.is_empty())
    }

    /// Passes on what happened.
    pub(super) async fn take(&mut self, wire: &Wire, happened: Happened) {
        match happened {
            Happened::Said(told) => Box::pin(self.pass_on(told)).await,
            Happened::Answered(ids, frames) => {
                ids.iter().for_each(|id| drop(self.withdrawn.remove(id)));
                frames.into_iter().for_each(|frame| wire.desk.post(frame));
            }
        }
    }

    async fn pass_on(&mut self, told: Told) {
        let Some(run) = self.run else { return };
        let Told { said, room } = told;
        match said {
            Said::Progress(raw) => run.progress(Progress(raw)).await,
            Said::Log(raw) => log(run, raw).await,
            Said::Other(method, params) => run.other(&method, params).await,
            // The modern era has no such notification: its client knows by itself, or looks again.
            Said::Visited(..) if run.client().era() == Era::Modern => {}
            // Nobody may be there to hear what a task says.
            Said::Visited(params, Some(later)) if run.may_be_task() => {
                later.tell(method::ELICITATION_COMPLETE, params);
            }
            Said::Visited(params, _) => run.other(method::ELICITATION_COMPLETE, params).await,
            Said::TaskMoved => {}
            Said::Withdrawn(id) => {
                if let Some(token) = self.withdrawn.get(&id) {
                    token.cancel();
                }
            }
            Said::Asked(mut question) => {
                question.room = Some(room);
                let of = question.params.path(&[meta::META, meta::TOOLGATE_QUESTION, "of"]);
                let of = of.and_then(|of| of.as_u64()).unwrap_or(1).min(MOST_TOGETHER);
                self.gathered.push(question);
                if self.gathered.len() as u64 >= of {
                    let questions = std::mem::take(&mut self.gathered);
                    self.ask(questions, run);
                }
            }
        }
    }

    fn ask(&mut self, questions: Vec<Question>, run: &'a RunHandle) {
        let token = CancellationToken::new();
        let ids: Vec<Id> = questions.iter().map(|question| question.id.clone()).collect();
        self.withdrawn.extend(ids.iter().map(|id| (id.clone(), token.clone())));
        questions.iter().for_each(|question| self.desk.sends(&question.params, run));
        let mut owed = Owed { desk: self.desk.clone(), questions };
        self.open.get_or_insert_default().push(Box::pin(async move {
            let answers = token.run_until_cancelled(answer(&owed.questions, run)).await;
            owed.questions.clear();
            (ids, answers.unwrap_or_default())
        }));
    }
}

impl Drop for Beside<'_> {
    /// The call has ended: what nobody was asked yet, nobody is asked any more.
    fn drop(&mut self) {
        self.gathered.iter().for_each(|question| self.desk.post(abandoned(question)));
        let Some(events) = &mut self.events else { return };
        events.close();
        while let Ok(told) = events.try_recv() {
            if let Said::Asked(question) = told.said {
                self.desk.post(abandoned(&question));
            }
        }
    }
}

/// Questions whose answer the server waits for. It may do nothing else meanwhile, so it learns when none will come.
struct Owed {
    desk: Arc<Desk>,
    questions: Vec<Question>,
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.questions.iter().for_each(|question| self.desk.post(abandoned(question)));
    }
}

/// The answer to a question whose call has ended.
fn abandoned(question: &Question) -> Bytes {
    if question.method == method::ELICITATION_CREATE {
        return write::result(&question.id, &Raw::literal(r#"{"action":"cancel"}"#));
    }
    write::error(Some(&question.id), code::INTERNAL, "the call that this was asked for has ended", None)
}

/// Sends a request, and waits for its answer.
pub(super) async fn run(
    wire: &Wire,
    mut ticket: Ticket,
    sending: Sending<'_>,
    ask: &Ask<'_>,
) -> Result<Raw, Fault> {
    let mut sending = pin!(wire.transport.send(sending));
    let mut beside = Beside::new(&wire.desk, ticket.events.take(), ask.run);
    let mut deadline = Instant::now() + ask.timeout;
    loop {
        tokio::select! {
            biased;
            happened = beside.next() => {
                deadline = Instant::now() + ask.timeout;
                beside.take(wire, happened).await;
            }
            answer = &mut ticket.answer => {
                beside.hear_out().await;
                return answer.unwrap_or_else(|_| Err(Fault::Gone("the connection was closed".into())));
            }
            sent = &mut sending, if !ticket.handed_over => match sent {
                Ok(Sent::UnderWay) => ticket.handed_over = true,
                Ok(Sent::Over) => {
                    beside.hear_out().await;
                    return over(&mut ticket);
                }
                Err(fault) => {
                    // What has failed need not be given up; but where only the way broke, the server may be at it.
                    ticket.cancellable = false;
                    ticket.lingers = ticket.lingers.filter(|_| matches!(fault, Fault::Gone(_)));
                    return Err(fault);
                }
            },
            () = silence(ask.run, deadline), if !beside.asks() => {
                // Over HTTP another connection would reach the same server.
                if !matches!(wire.transport, Transport::Http(_)) {
                    ticket.late();
                }
                return Err(Fault::Late(ticket.silence(ask.timeout)));
            }
        }
    }
}

/// Completes when a server was silent for too long: exactly then, or for a call a little later.
async fn silence(run: Option<&RunHandle>, deadline: Instant) {
    match run {
        Some(run) => run.alarm(deadline).await,
        None => sleep_until(deadline).await,
    }
}

/// What the server says next during this call; nothing ever where events are not wanted.
async fn next(events: &mut Option<mpsc::Receiver<Box<Told>>>) -> Told {
    if let Some(receiver) = events
        && let Some(told) = receiver.recv().await
    {
        return *told;
    }
    *events = None;
    std::future::pending().await
}

/// The next question that its caller has answered; none ever where there are none.
async fn answered(open: &mut Option<FuturesUnordered<Answering<'_>>>) -> (Vec<Id>, Vec<Bytes>) {
    match open {
        Some(open) if !open.is_empty() => open.select_next_some().await,
        _ => std::future::pending().await,
    }
}

/// The stream of the answer has ended: either the answer is here, or it will never be.
fn over(ticket: &mut Ticket) -> Result<Raw, Fault> {
    ticket
        .answer
        .try_recv()
        .unwrap_or_else(|_| Err(Fault::Gone("it ended its answer before the result".into())))
}

async fn log(run: &RunHandle, raw: Raw) {
    let level = raw.get("level");
    let level = level.as_ref().and_then(Raw::as_string).and_then(|level| level.parse::<LogLevel>().ok());
    run.log_as_is(level.unwrap_or(LogLevel::Info), raw).await;
}

/// Asks the client, and writes its answers for the server.
async fn answer(questions: &[Question], run: &RunHandle) -> Vec<Bytes> {
    let asked: Vec<Asked> = questions.iter().map(asked).collect();
    let keys: Vec<String> = asked.iter().map(|asked| asked.key.clone()).collect();
    let answers = run.ask(asked).await;
    let each = questions.iter().zip(keys);
    each.map(|(question, key)| match &answers {
        Ok(answers) => match answers.get(&key) {
            Some(answer) => write::result(&question.id, answer),
            None => declined(question, "the client did not answer"),
        },
        Err(error) if error.kind() == Kind::Cancelled => abandoned(question),
        Err(error) => refused(question, error),
    })
    .collect()
}

/// A question as the client is asked it: by its key, where a Toolgate behind us named one.
fn asked(question: &Question) -> Asked {
    let about = question.params.path(&[meta::META, meta::TOOLGATE_QUESTION]);
    let key = about.as_ref().and_then(|about| about.get("key"));
    let key = key.as_ref().and_then(Raw::as_string).unwrap_or("question".into());
    let params = match &about {
        None => question.params.clone(),
        Some(_) => without_key(&question.params),
    };
    match question.method {
        method::SAMPLING_CREATE_MESSAGE => Asked::sample(key, params),
        method::ROOTS_LIST => Asked::roots(key),
        _ => Asked::elicit(key, params),
    }
}

fn without_key(params: &Raw) -> Raw {
    let rest = params.get(meta::META).map(|meta| Edit::new(&meta).remove(meta::TOOLGATE_QUESTION).finish());
    let rest = rest.filter(|rest| rest.entries().next().is_some());
    match rest {
        Some(rest) => Edit::new(params).set(meta::META, rest).finish(),
        None => Edit::new(params).remove(meta::META).finish(),
    }
}

fn refused(question: &Question, error: &Error) -> Bytes {
    match error.as_forwarded() {
        // The client's own words.
        Some(object) => write::error_raw(Some(&question.id), object),
        None => write::error(Some(&question.id), code::INTERNAL, error.message(), None),
    }
}

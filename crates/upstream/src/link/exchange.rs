//! One request under way: its answer, what comes before it, and the time it may take.

use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Error, LogLevel, Progress, Question as Asked, RunHandle};
use toolgate_wire::{Era, Id, Raw, code, method, write};

use super::{Ask, Wire};
use crate::desk::{Question, Said, Ticket, declined};
use crate::fault::Fault;
use crate::transport::{Sending, Sent};

type Answering<'a> = Pin<Box<dyn Future<Output = (Id, Option<Bytes>)> + Send + 'a>>;

/// What goes on beside the answer to a request: what the server says and asks meanwhile.
pub(super) struct Beside<'a> {
    events: Option<mpsc::Receiver<Said>>,
    run: Option<&'a RunHandle>,
    /// Questions of the server that its caller has not answered yet.
    open: FuturesUnordered<Answering<'a>>,
    withdrawn: HashMap<Id, CancellationToken>,
}

/// One thing that happened beside the answer.
pub(super) enum Happened {
    Said(Said),
    Answered(Id, Option<Bytes>),
}

impl<'a> Beside<'a> {
    pub(super) fn new(events: Option<mpsc::Receiver<Said>>, run: Option<&'a RunHandle>) -> Self {
        Self { events, run, open: FuturesUnordered::new(), withdrawn: HashMap::new() }
    }

    /// What happens next; it can be given up and waited for again.
    pub(super) async fn next(&mut self) -> Happened {
        tokio::select! {
            biased;
            said = next(&mut self.events) => Happened::Said(said),
            Some((id, frame)) = self.open.next(), if !self.open.is_empty() => Happened::Answered(id, frame),
        }
    }

    /// Whether the server waits for an answer of its caller.
    fn asks(&self) -> bool {
        !self.open.is_empty()
    }

    /// Passes on what happened.
    pub(super) async fn take(&mut self, wire: &Wire, happened: Happened) {
        match happened {
            Happened::Said(said) => self.pass_on(said).await,
            Happened::Answered(id, frame) => {
                self.withdrawn.remove(&id);
                frame.into_iter().for_each(|frame| wire.desk.post(frame));
            }
        }
    }

    async fn pass_on(&mut self, said: Said) {
        let Some(run) = self.run else { return };
        match said {
            Said::Progress(raw) => run.progress(Progress(raw)).await,
            Said::Log(raw) => log(run, &raw).await,
            Said::Other(method, params) => run.other(&method, params).await,
            // The modern era has no such notification: its client knows by itself, or looks again.
            Said::Visited(params) if run.client().era() == Era::Legacy => {
                run.other(method::ELICITATION_COMPLETE, params).await;
            }
            Said::Visited(_) => {}
            Said::TaskMoved => {}
            Said::Withdrawn(id) => {
                if let Some(token) = self.withdrawn.get(&id) {
                    token.cancel();
                }
            }
            Said::Asked(question) => {
                let token = CancellationToken::new();
                self.withdrawn.insert(question.id.clone(), token.clone());
                self.open.push(Box::pin(async move {
                    let id = question.id.clone();
                    (id, token.run_until_cancelled(answer(question, run)).await)
                }));
            }
        }
    }
}

/// Sends a request, and waits for its answer.
pub(super) async fn run(
    wire: &Wire,
    mut ticket: Ticket,
    sending: Sending<'_>,
    ask: &Ask<'_>,
) -> Result<Raw, Fault> {
    let mut sending = pin!(wire.transport.send(sending));
    let mut beside = Beside::new(ticket.events.take(), ask.run);
    let mut under_way = false;
    let mut deadline = Instant::now() + ask.timeout;
    loop {
        tokio::select! {
            biased;
            happened = beside.next() => {
                deadline = Instant::now() + ask.timeout;
                beside.take(wire, happened).await;
            }
            answer = &mut ticket.answer => {
                return answer.unwrap_or_else(|_| Err(Fault::Gone("the connection was closed".into())));
            }
            sent = &mut sending, if !under_way => match sent? {
                Sent::UnderWay => under_way = true,
                Sent::Over => return over(&mut ticket),
            },
            () = sleep_until(deadline), if !beside.asks() => return Err(Fault::Late(ask.timeout)),
        }
    }
}

/// What the server says next during this call; nothing ever where events are not wanted.
async fn next(events: &mut Option<mpsc::Receiver<Said>>) -> Said {
    if let Some(receiver) = events
        && let Some(said) = receiver.recv().await
    {
        return said;
    }
    *events = None;
    std::future::pending().await
}

/// The stream of the answer has ended: either the answer is here, or it will never be.
fn over(ticket: &mut Ticket) -> Result<Raw, Fault> {
    ticket
        .answer
        .try_recv()
        .unwrap_or_else(|_| Err(Fault::Gone("it ended its answer before the result".into())))
}

async fn log(run: &RunHandle, raw: &Raw) {
    let level = raw.get("level");
    let level = level.as_ref().and_then(Raw::as_string).and_then(|level| level.parse::<LogLevel>().ok());
    let logger = raw.get("logger");
    let logger = logger.as_ref().and_then(Raw::as_string);
    let data = raw.get("data").unwrap_or(Raw::NULL);
    run.log(level.unwrap_or(LogLevel::Info), logger.as_deref(), &data).await;
}

/// Asks the client, and writes its answer for the server.
async fn answer(question: Question, run: &RunHandle) -> Bytes {
    const KEY: &str = "question";
    let asked = match question.method {
        method::SAMPLING_CREATE_MESSAGE => Asked::sample(KEY, question.params.clone()),
        method::ROOTS_LIST => Asked::roots(KEY),
        _ => Asked::elicit(KEY, question.params.clone()),
    };
    match run.ask(vec![asked]).await {
        Ok(answers) => match answers.get(KEY) {
            Some(answer) => write::result(&question.id, answer),
            None => declined(&question, "the client did not answer"),
        },
        Err(error) => refused(&question, &error),
    }
}

fn refused(question: &Question, error: &Error) -> Bytes {
    match error.as_forwarded() {
        // The client's own words.
        Some(object) => write::error_raw(Some(&question.id), object),
        None => write::error(Some(&question.id), code::INTERNAL, error.message(), None),
    }
}

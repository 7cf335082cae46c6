//! Questions put to a legacy client, until they are answered or nobody waits for that any more.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use toolgate_core::{Answers, Ask, Error, Event, Kind, Question, Result, Run};
use toolgate_wire::{Edit, Id, Raw, meta, method, write};

use super::Peer;

/// How many questions one client may have before it.
const MOST_ASKED: usize = 256;

/// How many bytes may be kept of them: their keys, and answers that wait for others.
const MOST_KEPT: usize = 16 * 1024 * 1024;

/// The questions that a client has before it.
#[derive(Default)]
pub(super) struct Questions {
    last: u64,
    /// Those asked together, by the number of the first.
    asked: HashMap<u64, Together>,
}

/// Questions asked together.
struct Together {
    /// The numbers and keys of those without an answer.
    open: Vec<(u64, String)>,
    answers: Answers,
    kept: usize,
    /// The way back, until it is taken: all are answered, or one is refused.
    ask: Option<Ask>,
    /// Who takes back what is open then.
    waker: Option<Waker>,
}

/// Questions that a client was asked together. Dropped, nothing is remembered of them.
pub(crate) struct Posed {
    pub(super) peer: Arc<Peer>,
    pub(super) first: u64,
}

impl Questions {
    pub(super) fn number_from(&mut self, number: u64) {
        self.last = number;
    }

    /// Takes questions in; the number of the first, and the requests that put them to the client.
    pub(super) fn put(&mut self, mut ask: Ask, keyed: bool) -> Option<(u64, Vec<Bytes>)> {
        if ask.is_over() || ask.questions.is_empty() {
            return None;
        }
        let kept = ask.questions.iter().map(|question| question.key.len()).sum();
        let open: usize = self.asked.values().map(|together| together.open.len()).sum();
        if open + ask.questions.len() > MOST_ASKED || self.kept() + kept > MOST_KEPT {
            ask.answer(Err(too_much()));
            return None;
        }
        // What they say is not needed any more once they are on their way.
        let questions = std::mem::take(&mut ask.questions);
        let (first, count) = (self.last + 1, questions.len());
        let (mut open, mut frames) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for question in questions {
            self.last += 1;
            let params = if keyed { with_key(&question, count) } else { question.params };
            frames.push(write::request(&question_id(self.last), question.method, &params));
            open.push((self.last, question.key));
        }
        let together = Together { open, answers: Answers::default(), kept, ask: Some(ask), waker: None };
        self.asked.insert(first, together);
        Some((first, frames))
    }

    /// Takes the answer to a question; tells whoever asked, and what, once that is clear.
    pub(super) fn answered(
        &mut self,
        number: u64,
        outcome: Result<Raw, Raw>,
    ) -> Option<(Ask, Result<Answers>)> {
        let kept = self.kept();
        let known = self.asked.values_mut().find_map(|together| {
            let place = together.open.iter().position(|(open, _)| *open == number)?;
            Some((together, place))
        });
        let Some((together, place)) = known else {
            tracing::debug!(number, "an answer to no question");
            return None;
        };
        let (_, key) = together.open.swap_remove(place);
        let answer = match outcome {
            Ok(answer) => answer,
            Err(error) => return together.end(|_| Err(refused(&error))),
        };
        let bytes = answer.as_bytes().len();
        together.answers.insert(key, answer);
        if together.open.is_empty() {
            return together.end(Ok);
        }
        together.kept += bytes;
        if kept + bytes > MOST_KEPT { together.end(|_| Err(too_much())) } else { None }
    }

    fn kept(&self) -> usize {
        self.asked.values().map(|together| together.kept).sum()
    }
}

impl Together {
    fn end(&mut self, outcome: impl FnOnce(Answers) -> Result<Answers>) -> Option<(Ask, Result<Answers>)> {
        let ask = self.ask.take()?;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        self.kept = 0;
        Some((ask, outcome(std::mem::take(&mut self.answers))))
    }
}

impl Posed {
    /// Completes when nobody waits for an answer any more.
    fn poll_over(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.peer.lock();
        let Some(together) = state.questions.asked.get_mut(&self.first) else { return Poll::Ready(()) };
        let Some(ask) = &mut together.ask else { return Poll::Ready(()) };
        let over = ask.poll_over(context);
        if over.is_pending() {
            together.waker = Some(context.waker().clone());
        }
        over
    }

    /// What tells the client that those without an answer need none any more.
    pub(crate) fn take_back(self) -> Vec<Bytes> {
        let open = self.forget().map(|together| together.open).unwrap_or_default();
        open.into_iter().map(|(number, _)| taken_back(number)).collect()
    }

    fn forget(&self) -> Option<Together> {
        self.peer.lock().questions.asked.remove(&self.first)
    }
}

impl Drop for Posed {
    fn drop(&mut self) {
        drop(self.forget());
    }
}

/// What a run says next, or else what its client has to hear of questions that nobody waits for any more.
pub(crate) async fn heard(run: &mut Run, posed: &mut Vec<Posed>) -> Result<Option<Event>, Vec<Bytes>> {
    let over = poll_fn(|context| {
        let over: Vec<Posed> = posed.extract_if(.., |posed| posed.poll_over(context).is_ready()).collect();
        if over.is_empty() { Poll::Pending } else { Poll::Ready(over) }
    });
    tokio::select! {
        biased;
        over = over => Err(over.into_iter().flat_map(Posed::take_back).collect()),
        event = run.next() => Ok(event),
    }
}

/// The params of a question with its key, and how many are asked together.
fn with_key(question: &Question, count: usize) -> Raw {
    let about = format!(r#"{{"key":{},"of":{count}}}"#, Raw::string(&question.key).as_str());
    let about = Raw::trusted(about.into());
    Edit::new(&question.params).set_in(meta::META, meta::TOOLGATE_QUESTION, about).finish()
}

fn refused(error: &Raw) -> Error {
    let message = error.get("message").and_then(|text| text.as_string().map(String::from));
    Error::new(Kind::Denied, format!("the client would not answer: {}", message.unwrap_or_default()))
}

fn too_much() -> Error {
    Error::new(Kind::RateLimited, "the client has too much to answer already")
        .hint("try again when some of its questions are answered")
}

fn taken_back(number: u64) -> Bytes {
    let id = question_id(number);
    let about = format!(r#"{{"requestId":{},"reason":"nobody waits for the answer any more"}}"#, id.as_str());
    write::notification(method::CANCELLED, Some(&Raw::trusted(about.into())))
}

/// Our ids are words, so that they never look like one of the client's.
fn question_id(number: u64) -> Id {
    Id::text(&format!("toolgate-{number}"))
}

pub(super) fn question_number(id: &Id) -> Option<u64> {
    id.raw().as_string()?.strip_prefix("toolgate-")?.parse().ok()
}

#[cfg(test)]
mod tests;

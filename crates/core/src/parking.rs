//! Runs that wait for a modern client to come back with its answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_wire::Raw;

use crate::{Answers, Ask, ConnectionId, Error, Kind, Question, Result, Run};

/// A run that waits, what it asked, and what has been answered so far.
pub(crate) struct Parked {
    pub(crate) run: Run,
    ask: Ask,
    answers: Answers,
    pub(crate) expires_ms: u64,
}

/// What became of a retry.
pub(crate) enum Answered {
    /// Every question has its answer; the run goes on.
    All(Run),
    /// Some answers are missing still.
    Some(Parked),
}

impl Parked {
    pub(crate) fn new(run: Run, ask: Ask, expires_ms: u64) -> Self {
        Self { run, ask, answers: Answers::default(), expires_ms }
    }

    /// The questions without an answer, as the `inputRequests` object.
    pub(crate) fn requests(&self) -> Raw {
        let open = self.ask.questions.iter().filter(|question| self.answers.get(&question.key).is_none());
        requests(open)
    }

    /// Takes the answers of a retry; answers to questions nobody asked are left out.
    pub(crate) fn answer(mut self, responses: Option<&Raw>) -> Answered {
        for (key, answer) in responses.into_iter().flat_map(Raw::entries) {
            let asked = self.ask.questions.iter().any(|question| question.key == key);
            if asked && Question::is_answer(&answer) {
                self.answers.insert(key, answer);
            }
        }
        if self.ask.questions.iter().any(|question| self.answers.get(&question.key).is_none()) {
            return Answered::Some(self);
        }
        self.ask.answer(Ok(self.answers));
        Answered::All(self.run)
    }
}

/// Questions as the `inputRequests` object of the modern era.
pub(crate) fn requests<'a>(questions: impl Iterator<Item = &'a Question>) -> Raw {
    let mut text = String::from("{");
    for question in questions {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(Raw::string(&question.key).as_str());
        text.push_str(&format!(
            r#":{{"method":"{}","params":{}}}"#,
            question.method,
            question.params.as_str()
        ));
    }
    text.push('}');
    Raw::trusted(text.into())
}

/// Takes out those whose time is over, and those whose callers are not let in any more.
fn over(runs: &mut HashMap<u64, Parked>, now_ms: u64) -> Vec<(u64, Parked)> {
    runs.extract_if(|_, parked| parked.expires_ms < now_ms || parked.run.shared.is_revoked()).collect()
}

/// All parked runs, by number.
#[derive(Default)]
pub(crate) struct Parking {
    runs: Mutex<(u64, HashMap<u64, Parked>)>,
}

impl Parking {
    /// Parks a run; those whose time is over make room, and dropping a run cancels it.
    pub(crate) fn park(&self, parked: Parked, most: usize, now_ms: u64) -> Result<(u64, usize)> {
        // Dropped at the end, when nothing is locked any more: dropping a run cancels it.
        let _gone;
        let mut runs = self.lock();
        _gone = over(&mut runs.1, now_ms);
        if runs.1.len() >= most {
            return Err(
                Error::new(Kind::RateLimited, "too many calls wait for an answer").hint("try again later")
            );
        }
        runs.0 += 1;
        let number = runs.0;
        runs.1.insert(number, parked);
        Ok((number, runs.1.len()))
    }

    /// Takes a run out, to go on with it, and tells how many are left. It can be taken once.
    pub(crate) fn take(&self, number: u64) -> Result<(Parked, usize)> {
        let mut runs = self.lock();
        let (parked, left) = (runs.1.remove(&number), runs.1.len());
        drop(runs);
        let parked = parked.filter(|parked| !parked.run.shared.is_revoked()).ok_or_else(|| {
            Error::new(Kind::InvalidParams, "the call that `requestState` belongs to is not waiting any more")
                .hint("it was answered already, or its time is over; call anew")
        })?;
        Ok((parked, left))
    }

    /// Lets go of those that came in by this connection; tells how many are left.
    pub(crate) fn leave(&self, connection: ConnectionId) -> usize {
        let mut runs = self.lock();
        let gone: Vec<(u64, Parked)> =
            runs.1.extract_if(|_, parked| parked.run.shared.connection() == Some(connection)).collect();
        let left = runs.1.len();
        drop(runs);
        // Dropping a run cancels it, and who learns of that may want to park another.
        drop(gone);
        left
    }

    /// Lets go of all whose time is over, or whose callers are not let in any more; tells how many are left.
    pub(crate) fn sweep(&self, now_ms: u64) -> usize {
        let mut runs = self.lock();
        let gone = over(&mut runs.1, now_ms);
        let left = runs.1.len();
        drop(runs);
        drop(gone);
        left
    }

    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Parked>)> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

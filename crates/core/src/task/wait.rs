//! Waiting for the result of a task, as clients of 2025-11-25 do: what it says and asks meanwhile comes on that way.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::mpsc;
use toolgate_wire::{Edit, Raw, meta, method};

use super::entry::{End, Entry};
use crate::{Answers, Error, Kind, Log, Outcome, Progress, Question, Result, RunHandle};

/// How much may wait for one who waits for the result.
const TOLD: usize = 32;

/// What the run of a task says.
#[derive(Clone)]
pub(super) enum Told {
    Progress(Progress),
    Log(Log),
    Other(Arc<str>, Raw),
}

/// Questions that one who waits has put to the client; let go unanswered, the next one who waits puts them.
struct Claim {
    entry: Arc<Entry>,
    keys: Vec<String>,
}

impl Entry {
    /// Waits for the end, and carries to the client what the task says and asks before.
    pub(super) async fn wait(self: &Arc<Self>, handle: &RunHandle) -> Result<Outcome> {
        let mut moved = self.moved.subscribe();
        let mut told = self.attend();
        let mut asking: FuturesUnordered<Pin<Box<dyn Future<Output = Result<()>> + Send + '_>>> =
            FuturesUnordered::new();
        loop {
            moved.mark_unchanged();
            if let Some(outcome) = self.outcome() {
                // What was said before the end comes before the end.
                while let Ok(told) = told.try_recv() {
                    self.pass_on(told, handle).await;
                }
                return outcome;
            }
            while let Some((claim, questions)) = self.claim(handle) {
                asking.push(Box::pin(async move { claim.answered(handle.ask_now(questions).await) }));
            }
            tokio::select! {
                biased;
                Some(told) = told.recv() => self.pass_on(told, handle).await,
                Some(carried) = asking.next(), if !asking.is_empty() => carried?,
                // The sender lives as long as the task does.
                _ = moved.changed() => {}
            }
        }
    }

    fn attend(&self) -> mpsc::Receiver<Told> {
        let (sender, told) = mpsc::channel(TOLD);
        let mut progress = self.lock();
        progress.attending.retain(|waits| !waits.is_closed());
        progress.attending.push(sender);
        told
    }

    fn outcome(&self) -> Option<Result<Outcome>> {
        let progress = self.lock();
        Some(match progress.end.as_ref()? {
            End::Completed(result) => Ok(Outcome::Complete(self.related(result))),
            End::Failed(error) => Err(Error::forwarded(error.clone())),
            End::Cancelled => Err(Error::new(Kind::Cancelled, "the task was cancelled")),
        })
    }

    /// Takes questions that this client can answer and that nobody else has put to it.
    fn claim(self: &Arc<Self>, handle: &RunHandle) -> Option<(Claim, Vec<Question>)> {
        let client = handle.client();
        let fits = |question: &Question| question.answerable_by(&client.capabilities).is_ok();
        let questions = self.lock().opens.claim(|question| client.reachable && fits(question))?;
        let keys = questions.iter().map(|question| question.key.clone()).collect();
        let related = |question: Question| Question { params: self.related(&question.params), ..question };
        Some((Claim { entry: self.clone(), keys }, questions.into_iter().map(related).collect()))
    }

    async fn pass_on(&self, told: Told, handle: &RunHandle) {
        match told {
            Told::Progress(step) => {
                if let Some(token) = &self.token {
                    let params = Edit::new(&step.0).set(meta::PROGRESS_TOKEN, token.raw().clone()).finish();
                    handle.other(method::PROGRESS, self.related(&params)).await;
                }
                handle.progress(step).await;
            }
            Told::Log(log) => handle.log_as_is(log.level, self.related(&log.params)).await,
            Told::Other(method, params) => handle.other(&method, self.related(&params)).await,
        }
    }
}

impl Claim {
    /// What the client said goes to whoever asked. One that has gone away has not said no: it fails by itself.
    fn answered(self, answers: Result<Answers>) -> Result<()> {
        let changed = match answers {
            Ok(answers) => {
                let taken = self.entry.update(&answers.to_raw());
                // What is no answer is not asked for again.
                let left = Error::new(Kind::Denied, "the client's answer is no object");
                self.entry.refuse(&self.keys, left) | taken
            }
            Err(error) if error.kind() == Kind::Cancelled => return Err(error),
            Err(error) => self.entry.refuse(&self.keys, error),
        };
        if changed {
            self.entry.tell();
        }
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.entry.lock().opens.let_go(&self.keys);
        self.entry.moved.send_replace(());
    }
}

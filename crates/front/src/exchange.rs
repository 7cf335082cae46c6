//! One call between client and hub: its events become frames in the client's era.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_core::{Ask, Error, Event, Hub, Kind, LogLevel, Outcome, Progress, Run, Target};
use toolgate_wire::{Era, Id, Raw, method, write};

use crate::answer::{Answer, Writer};
use crate::peer::{Peer, Posed, Registered, heard};

/// What comes next on the way to the client.
pub(crate) enum Step {
    /// A notification or a question.
    Frame(Bytes),
    /// End the stream; the client is expected to come back for the rest.
    CloseStream,
    /// The answer.
    Done(Answer),
    /// The client cancelled the call and wants no answer.
    Cancelled,
}

/// One call between client and hub.
pub(crate) struct Exchange {
    pub(crate) hub: Hub,
    pub(crate) id: Id,
    pub(crate) era: Era,
    pub(crate) target: Target,
    /// What progress notifications must carry; without it nobody wants them.
    pub(crate) token: Option<Id>,
    /// From which level on log messages are wanted.
    pub(crate) level: Option<LogLevel>,
    /// Whether its client wants it to be a task: then no result of its target answers it.
    pub(crate) as_task: bool,
    /// The connection that a legacy client's answers come back by.
    pub(crate) peer: Option<Arc<Peer>>,
    pub(crate) run: Option<Run>,
    pub(crate) registered: Option<Registered>,
    /// What its client was asked.
    pub(crate) posed: Vec<Posed>,
    pub(crate) waiting: VecDeque<Step>,
}

impl Exchange {
    /// The call gets on by itself from here on, however slowly its client reads.
    pub(crate) fn hand_over(&mut self) {
        if let Some(run) = &mut self.run {
            run.hand_over();
        }
    }

    /// What comes next. After `Done` or `Cancelled` there is nothing.
    pub(crate) async fn next(&mut self) -> Step {
        loop {
            if let Some(step) = self.waiting.pop_front() {
                return step;
            }
            let Some(run) = self.run.as_mut() else { return Step::Cancelled };
            // Boxed, because hardly any call asks.
            let heard = match self.posed.is_empty() {
                true => Ok(run.next().await),
                false => Box::pin(heard(run, &mut self.posed)).await,
            };
            match heard {
                Ok(Some(event)) => {
                    if let Some(step) = self.step(event) {
                        return step;
                    }
                }
                Ok(None) => return self.cut_off(),
                Err(frames) => self.waiting.extend(frames.into_iter().map(Step::Frame)),
            }
        }
    }

    fn step(&mut self, event: Event) -> Option<Step> {
        match event {
            Event::Progress(progress) => self.progress(&progress),
            Event::Log(log) if self.level.is_some_and(|level| log.level >= level) => {
                Some(Step::Frame(write::notification(method::MESSAGE, Some(&log.params))))
            }
            Event::Log(_) => None,
            Event::HangUp => Some(Step::CloseStream),
            Event::Other { method, params } => Some(Step::Frame(write::notification(&method, Some(&params)))),
            Event::Ask(ask) => self.ask(ask),
            Event::Done(outcome) => Some(self.done(outcome)),
        }
    }

    fn progress(&self, progress: &Progress) -> Option<Step> {
        let token = self.token.as_ref()?;
        let inside = progress.0.as_str().get(1..)?;
        let params = Raw::trusted(format!(r#"{{"progressToken":{},{inside}"#, token.as_str()).into());
        Some(Step::Frame(write::notification(method::PROGRESS, Some(&params))))
    }

    /// Legacy clients are asked by requests; modern ones by a result that they come back from.
    fn ask(&mut self, ask: Ask) -> Option<Step> {
        if self.era == Era::Modern {
            let run = self.run.take()?;
            let outcome = self.hub.park(run, ask);
            return Some(Step::Done(self.write(outcome, "call")));
        }
        let Some(peer) = &self.peer else {
            let why = "this connection cannot carry a question to the client";
            ask.answer(Err(Error::new(Kind::MissingCapability, why)));
            return None;
        };
        let (posed, frames) = peer.ask(ask)?;
        self.posed.push(posed);
        self.waiting.extend(frames.into_iter().map(Step::Frame));
        None
    }

    /// The hub ended before the call did.
    fn cut_off(&mut self) -> Step {
        self.done(Outcome::Failed(Error::new(Kind::Internal, "the server stopped before the call ended")))
    }

    fn done(&mut self, outcome: Outcome) -> Step {
        let Some(run) = self.run.take() else { return Step::Cancelled };
        if run.is_cancelled() {
            return self.last(Step::Cancelled);
        }
        let success = matches!(outcome, Outcome::Complete(_));
        tracing::debug!(id = self.id.as_str(), target = self.target.name(), success, "call completed");
        let answer = self.write(outcome, run.operation());
        self.last(Step::Done(answer))
    }

    /// The end. Before it the client hears which questions nobody waits for any more.
    fn last(&mut self, end: Step) -> Step {
        let posed = std::mem::take(&mut self.posed);
        self.waiting.extend(posed.into_iter().flat_map(Posed::take_back).map(Step::Frame));
        let Some(first) = self.waiting.pop_front() else { return end };
        self.waiting.push_back(end);
        first
    }

    fn write(&self, outcome: Outcome, operation: &str) -> Answer {
        let writer = Writer { era: self.era, id: &self.id, server: &self.hub.info().raw };
        if let (true, Outcome::Failed(error)) = (self.as_task, &outcome) {
            return writer.failed(error, false, operation);
        }
        writer.outcome(outcome, &self.target, operation)
    }
}

//! Drives runs to their end, and unpacks how they ended.

use serde_json::Value;
use toolgate_core::{Answers, Call, Error, Event, Hub, Outcome, Run};
use toolgate_wire::Raw;

/// A run that came to its end.
#[derive(Debug)]
pub struct Driven {
    /// What it told before, a line each: `progress {…}`, `log {…}`, `METHOD {…}`, `ask KEY METHOD {…}`.
    pub events: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Drives a run to its end, answering each question by the first unused answer with its key.
///
/// A set of questions with one that has no answer is dropped, as by a client that went away.
pub async fn drive<'a>(mut run: Run, answers: impl IntoIterator<Item = (&'a str, Value)>) -> Driven {
    let mut script: Vec<(&str, Value)> = answers.into_iter().collect();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            Event::Done(outcome) => return Driven { events, outcome },
            Event::Ask(ask) => {
                let mut answers = Answers::default();
                for question in &ask.questions {
                    let (key, method) = (&question.key, question.method);
                    events.push(format!("ask {key} {method} {}", question.params.as_str()));
                    if let Some(place) = script.iter().position(|(name, _)| name == key) {
                        answers.insert(key, Raw::of(&script.remove(place).1));
                    }
                }
                if ask.questions.iter().all(|question| answers.get(&question.key).is_some()) {
                    ask.answer(Ok(answers));
                }
            }
            Event::Progress(progress) => events.push(format!("progress {}", progress.0.as_str())),
            Event::Log(log) => events.push(format!("log {}", log.params.as_str())),
            Event::HangUp => events.push("hang up".into()),
            Event::Other { method, params } => events.push(format!("{method} {}", params.as_str())),
        }
    }
    panic!("the run ended without an outcome, after {events:?}");
}

/// Starts a call as a modern front does: a question parks the run and becomes the outcome.
pub async fn first_round(hub: &Hub, call: Call) -> Outcome {
    let mut run = hub.start(call);
    while let Some(event) = run.next().await {
        match event {
            Event::Done(outcome) => return outcome,
            Event::Ask(ask) => return hub.park(run, ask),
            Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
        }
    }
    panic!("the run ended without an outcome");
}

/// Unpacks an outcome that has to be of one kind.
pub trait Expect {
    /// The result of a call that completed.
    fn complete(self) -> Value;
    /// The error of a call that failed.
    fn failed(self) -> Error;
    /// The questions, and the state to bring back with the answers.
    fn asked(self) -> (Value, String);
    /// The description of a task.
    fn task(self) -> Value;
}

impl Expect for Outcome {
    #[track_caller]
    fn complete(self) -> Value {
        let Self::Complete(raw) = self else { panic!("not complete: {self:?}") };
        raw.to().unwrap()
    }

    #[track_caller]
    fn failed(self) -> Error {
        let Self::Failed(error) = self else { panic!("not failed: {self:?}") };
        error
    }

    #[track_caller]
    fn asked(self) -> (Value, String) {
        let Self::InputRequired { requests, state: Some(state) } = self else {
            panic!("asks nothing: {self:?}")
        };
        (requests.to().unwrap(), state)
    }

    #[track_caller]
    fn task(self) -> Value {
        let Self::Task(raw) = self else { panic!("no task: {self:?}") };
        raw.to().unwrap()
    }
}

impl Expect for Driven {
    #[track_caller]
    fn complete(self) -> Value {
        self.outcome.complete()
    }

    #[track_caller]
    fn failed(self) -> Error {
        self.outcome.failed()
    }

    #[track_caller]
    fn asked(self) -> (Value, String) {
        self.outcome.asked()
    }

    #[track_caller]
    fn task(self) -> Value {
        self.outcome.task()
    }
}

//! Questions a running call puts to its client: elicitation, sampling, roots.

use std::task::{Context, Poll};

use tokio::sync::oneshot;
use toolgate_wire::{Edit, Raw};

use crate::{Capabilities, Error, Kind, Result};

/// One question, keyed so that several can be asked at once.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its key among the questions asked together.
    pub key: String,
    /// The method a legacy client is asked by.
    pub method: &'static str,
    /// The params of that method.
    pub params: Raw,
}

impl Question {
    /// A form for the person: `params` holds `message` and `requestedSchema`, or a `url`.
    pub fn elicit(key: impl Into<String>, params: Raw) -> Self {
        Self { key: key.into(), method: "elicitation/create", params }
    }

    /// A prompt for the client's model.
    pub fn sample(key: impl Into<String>, params: Raw) -> Self {
        Self { key: key.into(), method: "sampling/createMessage", params }
    }

    /// Which folders the client works on.
    pub fn roots(key: impl Into<String>) -> Self {
        Self { key: key.into(), method: "roots/list", params: Raw::literal("{}") }
    }

    /// Whether this can be an answer at all: answers are objects.
    pub(crate) fn is_answer(answer: &Raw) -> bool {
        answer.kind() == toolgate_wire::Kind::Object
    }

    /// Fails when the client did not declare that it can answer this.
    pub fn answerable_by(&self, can: &Capabilities) -> Result<()> {
        let url = self.params.get("mode").is_some_and(|mode| mode.as_string().as_deref() == Some("url"));
        let (able, required) = match self.method {
            "sampling/createMessage" => (can.sampling, r#"{"sampling":{}}"#),
            "roots/list" => (can.roots, r#"{"roots":{}}"#),
            _ if url => (can.elicitation_url, r#"{"elicitation":{"url":{}}}"#),
            _ => (can.elicitation_form, r#"{"elicitation":{"form":{}}}"#),
        };
        if able {
            return Ok(());
        }
        let data = format!(r#"{{"requiredCapabilities":{required}}}"#);
        Err(Error::new(
            Kind::MissingCapability,
            format!("the client did not declare what `{}` needs", self.method),
        )
        .data(Raw::trusted(data.into())))
    }
}

/// The answers to a set of questions, by key.
#[derive(Debug, Clone, Default)]
pub struct Answers(Vec<(String, Raw)>);

impl Answers {
    /// The answer with this key.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, answer)| answer)
    }

    /// Adds or replaces an answer.
    pub fn insert(&mut self, key: impl Into<String>, answer: Raw) {
        let key = key.into();
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = answer,
            None => self.0.push((key, answer)),
        }
    }

    /// Takes over other answers.
    pub fn extend(&mut self, other: Self) {
        for (key, answer) in other.0 {
            self.insert(key, answer);
        }
    }

    /// The answers as one JSON object.
    pub fn to_raw(&self) -> Raw {
        let empty = Raw::literal("{}");
        self.0
            .iter()
            .fold(Edit::new(&empty), |object, (key, answer)| object.set(key, answer.clone()))
            .finish()
    }
}

/// A set of questions on its way to the client, and the way back for the answers.
#[derive(Debug)]
pub struct Ask {
    /// What is asked.
    pub questions: Vec<Question>,
    answer: oneshot::Sender<Result<Answers>>,
}

impl Ask {
    pub(crate) fn new(questions: Vec<Question>) -> (Self, oneshot::Receiver<Result<Answers>>) {
        let (answer, answered) = oneshot::channel();
        (Self { questions, answer }, answered)
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Completes when nobody waits for the answer any more.
    pub fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.answer.poll_closed(context)
    }

    /// Hands the answers to whoever asked; they may have gone away.
    pub fn answer(self, answers: Result<Answers>) {
        // Nobody waits any more when the run was cancelled, and then nobody misses the answer.
        drop(self.answer.send(answers));
    }
}

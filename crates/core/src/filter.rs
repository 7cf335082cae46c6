//! What changes what goes out.

use toolgate_wire::Raw;

use crate::{Error, Outcome};

/// Changes what leaves towards a client: results, errors, progress, log messages, questions and lists.
pub trait Filter: Send + Sync {
    /// Its name, for records.
    fn name(&self) -> &'static str;

    /// Filters JSON text.
    fn json(&self, raw: Raw) -> Raw;

    /// Filters plain text; `None` leaves it as it is.
    fn text(&self, text: &str) -> Option<String>;
}

/// All filters, in order.
#[derive(Default)]
pub(crate) struct Filters(pub(crate) Vec<Box<dyn Filter>>);

impl Filters {
    pub(crate) fn json(&self, raw: Raw) -> Raw {
        self.0.iter().fold(raw, |raw, filter| filter.json(raw))
    }

    pub(crate) fn text(&self, text: &str) -> Option<String> {
        self.0
            .iter()
            .fold(None, |done: Option<String>, filter| filter.text(done.as_deref().unwrap_or(text)).or(done))
    }

    pub(crate) fn outcome(&self, outcome: Outcome) -> Outcome {
        if self.0.is_empty() {
            return outcome;
        }
        match outcome {
            Outcome::Complete(raw) => Outcome::Complete(self.json(raw)),
            Outcome::Failed(error) => Outcome::Failed(self.error(error)),
            // The state is sealed by us and must come back as it is.
            Outcome::InputRequired { requests, state } => {
                Outcome::InputRequired { requests: self.json(requests), state }
            }
            Outcome::Task(raw) => Outcome::Task(self.json(raw)),
        }
    }

    pub(crate) fn error(&self, error: Error) -> Error {
        error.map_text(|text| self.text(text), |raw| self.json(raw))
    }
}

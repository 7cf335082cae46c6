//! What changes what goes out.

use toolgate_host::at_length;
use toolgate_wire::Raw;

use crate::guard::guard;
use crate::{Error, Outcome, Result, SourceStatus};

/// From so many bytes on filtering takes a while.
const LONG: usize = 4 * 1024 * 1024;

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
        let filtered = |raw| self.0.iter().fold(raw, |raw, filter| filter.json(raw));
        if self.0.is_empty() || raw.as_bytes().len() < LONG {
            return filtered(raw);
        }
        at_length(|| filtered(raw))
    }

    pub(crate) fn text(&self, text: &str) -> Option<String> {
        self.0
            .iter()
            .fold(None, |done: Option<String>, filter| filter.text(done.as_deref().unwrap_or(text)).or(done))
    }

    /// Plain text as it may be shown; a filter that breaks down lets nothing out.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        match guard("filter", || self.text(text)) {
            Ok(None) => text.into(),
            Ok(Some(filtered)) => filtered.into(),
            Err(_) => "".into(),
        }
    }

    /// Whether a name holds nothing to hide that has to arrive as it is, as keys of questions do. A filter that breaks
    /// down lets nothing out.
    pub(crate) fn lets_pass(&self, name: &str) -> bool {
        matches!(guard("filter", || self.text(name)), Ok(None))
    }

    /// Filters how a source stands; a filter that breaks down lets nothing out but its name and state.
    pub(crate) fn status(&self, status: SourceStatus) -> SourceStatus {
        if self.0.is_empty() {
            return status;
        }
        let bare = SourceStatus { name: status.name.clone(), state: status.state, ..SourceStatus::default() };
        let filtered = guard("filter", || self.json(Raw::of(&status)));
        filtered.ok().and_then(|raw| serde_json::from_slice(raw.as_bytes()).ok()).unwrap_or(bare)
    }

    /// Filters a page of a list or a notice; one that breaks down lets nothing out.
    pub(crate) fn page(&self, page: Raw) -> Result<Raw> {
        guard("filter", || self.json(page))
    }

    /// Filters how a call ended; one that breaks down lets nothing out.
    pub(crate) fn outcome(&self, outcome: Outcome) -> Outcome {
        if self.0.is_empty() {
            return outcome;
        }
        guard("filter", || self.filtered(outcome)).unwrap_or_else(Outcome::Failed)
    }

    fn filtered(&self, outcome: Outcome) -> Outcome {
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

    fn error(&self, error: Error) -> Error {
        error.map_text(|text| self.text(text), |raw| self.json(raw))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;

    /// Leaves what it is given as it is, once another task has got on.
    struct Waiting(Mutex<Receiver<()>>);

    impl Filter for Waiting {
        fn name(&self) -> &'static str {
            "waiting"
        }

        fn json(&self, raw: Raw) -> Raw {
            self.0.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("no other task got on");
            raw
        }

        fn text(&self, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_long_answer_does_not_keep_the_only_thread_while_it_is_filtered() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (got_on, gets_on) = channel();
        let filters = Arc::new(Filters(vec![Box::new(Waiting(Mutex::new(gets_on)))]));
        let long = Raw::string(&"x".repeat(LONG));
        let filtering = runtime.spawn(async move {
            #[expect(clippy::disallowed_methods, reason = "it is awaited here")]
            let other = tokio::spawn(async move { got_on.send(()) });
            let length = filters.json(long).as_bytes().len();
            other.await.unwrap().unwrap();
            length
        });
        assert_eq!(runtime.block_on(filtering).unwrap(), LONG + 2);
    }
}

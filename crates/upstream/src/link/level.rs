//! From which level on a legacy server sends log messages: the most talkative that any of its callers wanted.

use std::sync::PoisonError;
use std::time::Duration;

use toolgate_core::{LogLevel, Permitted};
use toolgate_wire::{Era, Raw, method};

use super::{Ask, Link};

/// How long is waited for a server to agree; it matters less than the call.
const PATIENCE: Duration = Duration::from_secs(5);

impl Link {
    /// Has the server send what this call's client wants to hear. Others get it too, and filter it themselves.
    pub(crate) async fn speak_for(&self, permitted: &Permitted, timeout: Duration) {
        let wanted = match (permitted.log_level(), permitted.client().era()) {
            (None, Era::Modern) => return,
            (level, _) => level.unwrap_or(LogLevel::Info),
        };
        self.speak_from(wanted, timeout).await;
    }

    /// Has the server send log messages from this level on, unless it sends them already.
    pub(crate) async fn speak_from(&self, wanted: LogLevel, timeout: Duration) {
        let told = || self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let is_enough = told().is_some_and(|level| level <= wanted);
        if is_enough || self.era() == Era::Modern || !self.facts.has(&["logging"]) {
            return;
        }
        let params = Raw::trusted(format!(r#"{{"level":"{}"}}"#, wanted.as_str()).into());
        let ask = Ask::plain(method::LOGGING_SET_LEVEL, params, timeout.min(PATIENCE));
        match Box::pin(self.wire.request(ask)).await {
            Ok(_) => *told() = Some(wanted),
            Err(fault) => {
                // It is not asked again, whatever the next caller wants: each would wait as long as this one.
                *told() = Some(LogLevel::Debug);
                self.wire.desk.journal.note("does not take a log level", &fault.words());
            }
        }
    }
}

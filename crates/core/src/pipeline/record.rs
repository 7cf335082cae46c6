//! What becomes known of a call on its way, and the record that is made of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::hub::Inner;
use crate::recorder::Entry;
use crate::{Call, Error, Outcome, RunHandle, SourceId};

/// What becomes known of a call on its way; it is there however the call ends.
#[derive(Debug, Default)]
pub(crate) struct Trace(Mutex<Known>);

#[derive(Debug, Default, Clone)]
struct Known {
    source: Option<SourceId>,
    rule: Option<Arc<str>>,
    approver: Option<String>,
}

impl Trace {
    pub(super) fn goes_to(&self, source: &SourceId) {
        self.lock().source = Some(source.clone());
    }

    pub(super) fn decided_by(&self, rule: impl Into<Arc<str>>) {
        self.lock().rule = Some(rule.into());
    }

    pub(super) fn approved(&self, by: String) {
        self.lock().approver = Some(by);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records a call that ran to its end, whatever end that was.
pub(super) fn ended(hub: &Inner, handle: &RunHandle, trace: &Trace, (outcome, took): (&Outcome, Duration)) {
    let Some(recorder) = &hub.recorder else { return };
    let (target, client) = (handle.target(), handle.client());
    let known = trace.lock().clone();
    let arguments = recorder.wants_arguments().then(|| hub.filters.json(handle.params().clone()));
    recorder.record(&Entry {
        time_ms: hub.clock.unix_ms(),
        principal: handle.principal(),
        client: &client,
        target,
        name: &hub.filters.clean(target.name()),
        source: known.source.as_ref(),
        digest: &crate::seal::digest(target, handle.params()),
        arguments: arguments.as_ref(),
        outcome: outcome.label(),
        took,
        rule: known.rule.as_deref(),
        approver: known.approver.as_deref(),
    });
}

/// Records a call that was refused before it could begin.
pub(crate) fn refused(hub: &Inner, call: &Call, error: &Error, rule: &str) {
    let Some(recorder) = &hub.recorder else { return };
    recorder.record(&Entry {
        time_ms: hub.clock.unix_ms(),
        principal: &call.principal,
        client: &call.client,
        target: &call.target,
        name: &hub.filters.clean(call.target.name()),
        source: None,
        digest: &crate::seal::digest(&call.target, &call.params),
        arguments: None,
        outcome: error.kind().category(),
        took: Duration::ZERO,
        rule: Some(rule),
        approver: None,
    });
}

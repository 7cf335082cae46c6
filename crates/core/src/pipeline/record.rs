//! What becomes known of a call on its way, and the record that is made of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::hub::Inner;
use crate::recorder::Entry;
use crate::results::Cuttable;
use crate::seal::CallDigest;
use crate::tracer::CallSpan;
use crate::{Call, Ended, Error, Kind, Outcome, RunHandle, SourceId, Step};

/// What becomes known of a call on its way; it is there however the call ends.
pub(crate) struct Trace {
    known: Mutex<Known>,
    span: CallSpan,
}

#[derive(Debug, Default)]
struct Known {
    source: Option<SourceId>,
    rule: Option<Arc<str>>,
    approver: Option<String>,
    cuttable: Option<Cuttable>,
}

impl Trace {
    /// Begins to follow a call. Its name passes the filters; its arguments are nobody's business here.
    pub(super) fn begin(hub: &Inner, call: &Call) -> Self {
        tracing::debug!(
            target = call.target.kind(),
            name = %hub.filters.clean(call.target.name()),
            principal = %call.principal.id,
            "call begins"
        );
        Self { known: Mutex::default(), span: span(hub, call) }
    }

    /// Begins a part of the way, for as long as what this returns lives.
    pub(super) fn step(&self, step: Step) -> CallSpan {
        self.span.as_ref().map(|span| span.step(step))
    }

    /// Ends it with the call.
    pub(super) fn close(self, hub: &Inner, handle: &RunHandle, (outcome, took): (&Outcome, Duration)) {
        tracing::debug!(
            target = handle.target().kind(),
            name = %hub.filters.clean(handle.target().name()),
            principal = %handle.principal().id,
            outcome = outcome.label(),
            ms = took.as_millis(),
            success = !matches!(outcome, Outcome::Failed(_)),
            cause = cause(hub, outcome),
            "call ended"
        );
        if let Some(span) = self.span {
            let known = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
            span.ended(&end(outcome, known.source.as_ref(), known.rule.as_deref()));
        }
    }

    pub(super) fn goes_to(&self, source: &SourceId) {
        self.lock().source = Some(source.clone());
    }

    pub(super) fn decided_by(&self, rule: impl Into<Arc<str>>) {
        self.lock().rule = Some(rule.into());
    }

    /// How the answer can be cut, if it comes from a tool.
    pub(super) fn answers_as(&self, cuttable: Cuttable) {
        self.lock().cuttable = Some(cuttable);
    }

    pub(super) fn cuttable(&self) -> Option<Cuttable> {
        self.lock().cuttable
    }

    /// Who said yes, or no.
    pub(super) fn answered_by(&self, by: String) {
        self.lock().approver = Some(by);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records a call that ran to its end, whatever end that was.
pub(super) fn ended(hub: &Inner, handle: &RunHandle, trace: &Trace, (outcome, took): (&Outcome, Duration)) {
    let Some(recorder) = &hub.recorder else { return };
    let (target, client) = (handle.target(), handle.client());
    let known = trace.lock();
    let wanted = recorder.wants_arguments().then(|| hub.filters.page(handle.params().clone()));
    // A filter that breaks down lets nothing out, but the call is recorded.
    let arguments = wanted.and_then(Result::ok);
    recorder.record(&Entry {
        time_ms: hub.clock.unix_ms(),
        principal: handle.principal(),
        client: &client,
        target,
        name: &hub.filters.clean(target.name()),
        source: known.source.as_ref(),
        digest: CallDigest::of(target, handle.params()).as_str(),
        arguments: arguments.as_ref(),
        code: handle.code().map(|code| hub.filters.clean(code)).as_deref(),
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
        digest: CallDigest::of(&call.target, &call.params).as_str(),
        arguments: None,
        code: call.code.as_deref().map(|code| hub.filters.clean(code)).as_deref(),
        outcome: error.kind().category(),
        took: Duration::ZERO,
        rule: Some(rule),
        approver: None,
    });
}

/// Tells of a call that was refused before it could begin.
pub(crate) fn unbegun(hub: &Inner, call: &Call, outcome: &Outcome) {
    tracing::debug!(
        target = call.target.kind(),
        name = %hub.filters.clean(call.target.name()),
        principal = %call.principal.id,
        outcome = outcome.label(),
        "call refused"
    );
    if let Some(span) = span(hub, call) {
        span.ended(&end(outcome, None, None));
    }
}

fn span(hub: &Inner, call: &Call) -> CallSpan {
    hub.tracer.as_ref().map(|tracer| tracer.begin(call, &hub.filters.clean(call.target.name())))
}

fn end<'a>(outcome: &Outcome, source: Option<&'a SourceId>, rule: Option<&'a str>) -> Ended<'a> {
    let failed = match outcome {
        Outcome::Failed(error) => Some(error.kind()),
        Outcome::Complete(_) | Outcome::InputRequired { .. } | Outcome::Task(_) => None,
    };
    Ended { outcome: outcome.label(), failed, source, rule }
}

/// Why a call failed, where that is ours to know: what a caller did wrong would quote what it sent.
fn cause(hub: &Inner, outcome: &Outcome) -> Option<String> {
    let Outcome::Failed(error) = outcome else { return None };
    let ours = matches!(
        error.kind(),
        Kind::Internal | Kind::Upstream | Kind::ConnectionFailed | Kind::Unauthorized | Kind::Timeout
    );
    let cause = std::error::Error::source(error).filter(|_| ours)?;
    Some(hub.filters.clean(&format!("{cause:?}")).into_owned())
}

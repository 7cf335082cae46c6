//! The record of every call and decision.

use std::time::Duration;

use toolgate_wire::Raw;

use crate::{Client, Principal, Result, SourceId, Target, local_client};

/// What is recorded of a call; nothing in it is secret any more.
#[derive(Debug)]
pub struct Entry<'a> {
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who called.
    pub principal: &'a Principal,
    /// From which program.
    pub client: &'a Client,
    /// What it was for.
    pub target: &'a Target,
    /// The name, URI or id of that, without secrets.
    pub name: &'a str,
    /// Where it went, if it got that far.
    pub source: Option<&'a SourceId>,
    /// What the call is, whatever its id: a digest over target and canonical arguments.
    pub digest: &'a str,
    /// Its arguments, where they are to be recorded.
    pub arguments: Option<&'a Raw>,
    /// The code that it was to run, or that made it, with its hash.
    pub code: Option<&'a str>,
    /// How it ended, in the words of the metrics.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
    /// The rule that decided.
    pub rule: Option<&'a str>,
    /// Who approved or rejected it.
    pub approver: Option<&'a str>,
}

/// What a person changed by hand, on the admin page or by a command; nothing in it is secret any more.
#[derive(Debug)]
pub struct ByHand<'a> {
    /// When that was done, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who did it.
    pub principal: &'a Principal,
    /// What was changed.
    pub name: &'a str,
    /// What came of it, in the words of the metrics.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
}

impl ByHand<'_> {
    /// Records it as calls are recorded: as a method of this name.
    pub fn record(&self, recorder: &dyn Recorder) {
        recorder.record(&Entry {
            time_ms: self.time_ms,
            principal: self.principal,
            client: &local_client(),
            target: &Target::Method(self.name.into()),
            name: self.name,
            source: None,
            digest: "",
            code: None,
            arguments: None,
            outcome: self.outcome,
            took: self.took,
            rule: None,
            approver: None,
        });
    }
}

/// Keeps the record of every call and decision.
pub trait Recorder: Send + Sync {
    /// Fails where a call that ran now could not be recorded; then it does not run.
    fn ready(&self) -> Result<()>;

    /// Whether arguments are recorded too.
    fn wants_arguments(&self) -> bool;

    /// Records a call that ended, before its reply leaves.
    fn record(&self, entry: &Entry<'_>);
}

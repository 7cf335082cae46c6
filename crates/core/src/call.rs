//! One request on its way to a source.

use std::sync::Arc;
use std::time::Duration;

use toolgate_wire::Raw;

use crate::{Client, ConnectionId, LogLevel, Pass, Principal, Taken, Target, TraceContext};

/// One request on its way to a source.
#[derive(Debug)]
pub struct Call {
    /// Who calls.
    pub principal: Arc<Principal>,
    /// What let it in, where that can be taken back: then it ends, though nobody waits for it.
    pub pass: Option<Pass>,
    /// The program it comes from.
    pub client: Arc<Client>,
    /// What it is for.
    pub target: Target,
    /// The params as they were sent; always an object.
    pub params: Raw,
    /// The `arguments` of the params, where whoever read them has found them already.
    pub arguments: Option<Raw>,
    /// The named view of the catalog it came in by, if any.
    pub profile: Option<Arc<str>>,
    /// The lasting connection it came in by, if any.
    pub connection: Option<ConnectionId>,
    /// How long it may take, if the caller said so; the hub's own limit holds all the same.
    pub time_limit: Option<Duration>,
    /// From which level on its client wants log messages, where it wants any.
    pub log_level: Option<LogLevel>,
    /// Where it belongs in its client's trace, if the client said so.
    pub trace: Option<Arc<TraceContext>>,
    /// Whether it came as a call of `tools_call`, which names a tool that is not listed.
    pub via_search: bool,
    /// Whether a source makes it while it answers another call, by [`RunHandle::start`](crate::RunHandle::start).
    pub nested: bool,
    /// The code that makes it, where code does, with its hash.
    pub code: Option<Arc<str>>,
    /// Present when it continues a call that had asked something.
    pub resume: Option<Resume>,
    /// Present when its client wants it to be a task, as only clients of 2025-11-25 can say.
    pub task: Option<TaskRequest>,
    /// What the limiter took for it when it began.
    pub taken: Taken,
}

/// That a call is to be a task: the `task` of its params.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskRequest {
    /// How long it is to be kept, counted from its beginning, if the client said so; the hub has limits of its own.
    pub ttl: Option<Duration>,
}

/// The part of a retry that answers an `input_required` result.
#[derive(Debug, Clone, Default)]
pub struct Resume {
    /// The answers by key, an object.
    pub responses: Option<Raw>,
    /// The sealed state that went out with the questions.
    pub state: Option<String>,
}

impl Call {
    /// A call with nothing but who, from where, what for, and its params.
    pub fn new(principal: Arc<Principal>, client: Arc<Client>, target: Target, params: Raw) -> Self {
        Self {
            principal,
            pass: None,
            client,
            target,
            params,
            arguments: None,
            profile: None,
            connection: None,
            time_limit: None,
            log_level: None,
            trace: None,
            via_search: false,
            nested: false,
            code: None,
            resume: None,
            task: None,
            taken: Taken::default(),
        }
    }
}

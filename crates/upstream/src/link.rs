//! A connection to a server: requests and their answers, with all that happens in between.

mod exchange;
mod level;
mod task;
mod told;
mod visit;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolgate_core::{Client, LogLevel, RunHandle};
use toolgate_host::Tasks;
use toolgate_wire::headers::HeaderParam;
use toolgate_wire::{Era, Id, Raw, Version, meta, write};

use crate::desk::{Caller, Desk};
use crate::fault::Fault;
use crate::transport::{Sending, Transport};
pub(crate) use told::Told;
use told::ToldOf;

/// Which questions a server may ask, of those that the client can answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these")]
pub(crate) struct Declared {
    pub(crate) form: bool,
    pub(crate) url: bool,
    pub(crate) sampling: bool,
    /// Its model may be given tools.
    pub(crate) sampling_tools: bool,
    /// Its model may be given what other servers said.
    pub(crate) sampling_context: bool,
    pub(crate) roots: bool,
}

/// What a server may count on whoever calls. Pages of apps are declared for all, since all share one catalog: a client
/// that cannot show them does not look at them. A task is seen to its end by us where the client knows none.
const PAGES: &str = r#""io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}"#;
const TASKS: &str = r#""io.modelcontextprotocol/tasks":{}"#;

impl Declared {
    /// What this client can answer.
    pub(crate) fn of(client: &Client) -> Self {
        if !client.reachable {
            return Self::default();
        }
        let can = client.capabilities;
        Self {
            form: can.elicitation_form,
            url: can.elicitation_url,
            sampling: can.sampling,
            sampling_tools: can.sampling_tools,
            sampling_context: can.sampling_context,
            roots: can.roots,
        }
    }

    /// The capabilities object that says so.
    pub(crate) fn to_raw(self, era: Era) -> Raw {
        let mut parts = Vec::new();
        match (self.form, self.url) {
            (true, true) => parts.push(r#""elicitation":{"form":{},"url":{}}"#),
            // An empty object is how all revisions say that there are forms.
            (true, false) => parts.push(r#""elicitation":{}"#),
            (false, true) => parts.push(r#""elicitation":{"url":{}}"#),
            (false, false) => {}
        }
        match (self.sampling, self.sampling_tools, self.sampling_context) {
            (false, ..) => {}
            (true, false, false) => parts.push(r#""sampling":{}"#),
            (true, true, false) => parts.push(r#""sampling":{"tools":{}}"#),
            (true, false, true) => parts.push(r#""sampling":{"context":{}}"#),
            (true, true, true) => parts.push(r#""sampling":{"context":{},"tools":{}}"#),
        }
        match (self.roots, era) {
            (true, Era::Legacy) => parts.push(r#""roots":{"listChanged":true}"#),
            (true, Era::Modern) => parts.push(r#""roots":{}"#),
            (false, _) => {}
        }
        // What a Toolgate behind us asks together, the client can be asked together.
        let keyed = format!(r#""experimental":{{"{}":{{}}}}"#, meta::TOOLGATE_QUESTION);
        if era == Era::Legacy && self != Self::default() {
            parts.push(&keyed);
        }
        let extensions = match era {
            Era::Legacy => format!(r#""extensions":{{{PAGES}}}"#),
            Era::Modern => format!(r#""extensions":{{{PAGES},{TASKS}}}"#),
        };
        parts.push(&extensions);
        Raw::trusted(format!("{{{}}}", parts.join(",")).into())
    }
}

/// What a server said of itself.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) version: Version,
    pub(crate) capabilities: Raw,
    pub(crate) server: Option<Raw>,
    pub(crate) instructions: Option<String>,
}

impl Facts {
    /// Whether it has this capability.
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        self.capabilities.path(path).is_some_and(|value| value.as_bool() != Some(false) && !value.is_null())
    }
}

/// A connection before the server has said what it is.
pub(crate) struct Wire {
    pub(crate) desk: Arc<Desk>,
    pub(crate) transport: Transport,
    /// Reads and writes for it.
    pub(crate) tasks: Tasks,
    stopped: AtomicBool,
}

/// A connection to a server that has said what it is.
pub(crate) struct Link {
    pub(crate) wire: Wire,
    pub(crate) facts: Facts,
    /// From which level on a legacy server was told to send log messages.
    level: Mutex<Option<LogLevel>>,
    /// What a legacy server was told of who watches what. Whoever tells it more is the only one.
    pub(crate) told: tokio::sync::Mutex<ToldOf>,
}

/// A request to a server.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Raw,
    /// Arguments that are repeated in headers.
    pub(crate) headers: &'a [HeaderParam],
    /// How long the server may be silent.
    pub(crate) timeout: Duration,
    /// Whom events and questions are for.
    pub(crate) run: Option<&'a RunHandle>,
}

impl<'a> Ask<'a> {
    /// A request that nobody in particular waits for.
    pub(crate) fn plain(method: &'a str, params: Raw, timeout: Duration) -> Self {
        Self { method, params, headers: &[], timeout, run: None }
    }
}

impl Wire {
    pub(crate) fn new(desk: Arc<Desk>, transport: Transport, tasks: Tasks) -> Self {
        Self { desk, transport, tasks, stopped: AtomicBool::new(false) }
    }

    /// Whether we ended it ourselves.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Sends a request and waits for its answer, passing on what comes before it.
    pub(crate) async fn request(&self, ask: Ask<'_>) -> Result<Raw, Fault> {
        self.request_with(ask, |params, _| params).await
    }

    /// As [`Wire::request`]; `finish` completes the params, which may hold the number of the request.
    pub(crate) async fn request_with(
        &self,
        ask: Ask<'_>,
        finish: impl FnOnce(Raw, u64) -> Raw,
    ) -> Result<Raw, Fault> {
        let mut ticket = self.desk.place(ask.run.map(Caller::of))?;
        // Giving up an `initialize` has no meaning.
        ticket.cancellable = ask.method != toolgate_wire::method::INITIALIZE;
        ticket.lingers = Some(ask.timeout);
        let params = finish(ask.params.clone(), ticket.id);
        let sending = Sending {
            frame: write::request(&Id::number(ticket.id), ask.method, &params),
            id: ticket.id,
            method: ask.method,
            params: &params,
            headers: ask.headers,
            left: ticket.left.clone(),
        };
        exchange::run(self, ticket, sending, &ask).await
    }

    /// Sends a notification, and waits until it has left where that can be known.
    pub(crate) async fn notify(&self, method: &str, params: Option<&Raw>) -> Result<(), Fault> {
        self.transport.notify(write::notification(method, params)).await
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.desk.close("the connection was closed");
        self.transport.stop();
    }

    /// Ends the connection, and the program where there is one.
    pub(crate) async fn close(&self) {
        self.stop();
        self.tasks.shutdown(Duration::from_secs(10)).await;
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Link {
    pub(crate) fn new(wire: Wire, facts: Facts) -> Arc<Self> {
        // The modern era tells it over HTTP by closing the stream.
        let by_closing = facts.version.era() == Era::Modern && !matches!(wire.transport, Transport::Stdio(_));
        wire.desk.says_cancelled.store(!by_closing, Ordering::Relaxed);
        Arc::new(Self { wire, facts, level: Mutex::default(), told: tokio::sync::Mutex::default() })
    }

    pub(crate) fn era(&self) -> Era {
        self.facts.version.era()
    }

    /// Takes nothing new, if what a request failed of is the connection: the next one may be right.
    pub(crate) fn doubts(&self, fault: &Fault) {
        if matches!(
            fault,
            Fault::NotSent(_) | Fault::NoToken(_) | Fault::SessionGone | Fault::Unauthorized(_)
        ) {
            self.wire.desk.retire(&fault.words());
        }
    }
}

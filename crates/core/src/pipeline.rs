//! The one way through for a call, as a straight line.

mod approve;
mod record;
mod shown;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use toolgate_wire::{Era, Raw};

use crate::consents::Consent;
use crate::guard::{broken, guard};
use crate::hub::Inner;
use crate::results::Cuttable;
use crate::seal::{Next, Round, State, digest};
use crate::tracer::outgoing;
use crate::view::Route;
use crate::{
    Admission, Call, Client, Error, Gate, Judged, Kind, LogLevel, Origin, Outcome, Place, Principal, Result,
    RunHandle, Source, Step, Target, TaskMode, TooMany, ToolItem, TraceContext, Verdict,
};
pub(crate) use approve::Unapproved;
use approve::{Asking, Subject};
pub(crate) use record::{Trace, refused, unbegun};

/// When to come again to a source whose queue is full.
const FULL: Duration = Duration::from_secs(1);

/// How many times one call may ask before it is taken for a loop.
const MOST_ROUNDS: usize = 8;

/// A call with the proof that all gates passed. It can be made only here, and every source demands one.
///
/// Nobody else can make one:
/// ```compile_fail,E0451
/// # fn forge(permitted: toolgate_core::Permitted) -> toolgate_core::Permitted {
/// toolgate_core::Permitted { state: None, ..permitted }
/// # }
/// ```
/// nor two of one:
/// ```compile_fail,E0599
/// # fn twice(permitted: toolgate_core::Permitted) -> toolgate_core::Permitted {
/// permitted.clone()
/// # }
/// ```
#[derive(Debug)]
pub struct Permitted {
    call: Arc<Call>,
    tool: Option<Arc<ToolItem>>,
    arguments: Raw,
    answers: Option<Raw>,
    state: Option<String>,
    /// What a person said that was asked. Boxed, as few calls need it.
    consent: Option<Box<Consent>>,
    /// How often the source has asked in earlier rounds.
    asked: usize,
    trace: Option<Arc<TraceContext>>,
}

impl Permitted {
    /// What the call is for.
    pub fn target(&self) -> &Target {
        &self.call.target
    }

    /// Who calls.
    pub fn principal(&self) -> &Principal {
        &self.call.principal
    }

    /// The program it comes from.
    pub fn client(&self) -> &Client {
        &self.call.client
    }

    /// The params as they were sent.
    pub fn params(&self) -> &Raw {
        &self.call.params
    }

    /// The tool it is for, where it is for a tool.
    pub fn tool(&self) -> Option<&ToolItem> {
        self.tool.as_deref()
    }

    /// The `arguments` of the params; an empty object where there are none.
    pub fn arguments(&self) -> &Raw {
        &self.arguments
    }

    /// The answers by key, when the source had asked.
    pub fn answers(&self) -> Option<&Raw> {
        self.answers.as_ref()
    }

    /// Where what a source sends on belongs in the trace, if there is one.
    pub fn trace_context(&self) -> Option<&TraceContext> {
        self.trace.as_deref()
    }

    /// From which level on the client wants log messages, where it wants any.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.call.log_level
    }

    /// The source's own state, when it had asked and given one.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

/// Runs a call from its first gate to its record.
pub(crate) async fn run(hub: Arc<Inner>, call: Arc<Call>, round: Round, handle: RunHandle) -> Outcome {
    let started = Instant::now();
    hub.metrics.started();
    let trace = Trace::begin(&hub, &call);
    let passing = AssertUnwindSafe(pass(&hub, call, round, &handle, &trace)).catch_unwind();
    let outcome = tokio::select! {
        biased;
        outcome = passing => outcome.unwrap_or_else(|panic| Err(broken("tool", &*panic))).into(),
        () = handle.cancelled() => Outcome::Failed(Error::new(Kind::Cancelled, "the call was cancelled")),
        () = handle.expired() => Outcome::Failed(handle.too_long()),
    };
    let outcome = hub.filters.outcome(outcome);
    let took = started.elapsed();
    // Cut behind the filters: what they look for must not be cut in two.
    let outcome = shorten(&hub, &handle, &trace, outcome).await;
    hub.metrics.ended(handle.target(), &outcome, took);
    record::ended(&hub, &handle, &trace, (&outcome, took));
    trace.close(&hub, &handle, (&outcome, took));
    outcome
}

async fn pass(
    hub: &Arc<Inner>,
    call: Arc<Call>,
    round: Round,
    handle: &RunHandle,
    trace: &Trace,
) -> Result<Outcome> {
    if let Some(recorder) = &hub.recorder {
        recorder.ready()?;
    }
    let view = hub.view_for_call(&call).await;
    let route = view.route(&call)?;
    if call.task.is_some() {
        Box::pin(begin_task(&call, &route, handle)).await?;
    }
    if let Some(title) = route.tool.as_ref().and_then(|tool| tool.title.as_deref()) {
        handle.names(title);
    }
    cut_as(hub, &call, &route, trace);
    let asks = match route.shows_only {
        true => Vec::new(),
        false => judge(&hub.gates, judged(&call, &route), trace).inspect_err(|_| hub.give_back(&call))?,
    };
    let arguments = call.arguments.clone().or_else(|| call.params.get("arguments"));
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
    check_input(&arguments, &route)?;
    let mut subject = Subject { hub, call: &call, route, arguments: &arguments, trace, terms: String::new() };
    // One approval covers all rounds of the call.
    let mut consent = subject.earlier(round.consent).map(Box::new);
    if consent.is_none() && !asks.is_empty() {
        // Boxed, as all that is rare on this way: what every call carries along should be small.
        consent = Box::pin(agreed(&mut subject, handle)).await?.map(Box::new);
    }
    let route = subject.route;
    if let Some(consent) = &consent {
        trace.answered_by(consent.by.clone());
    }
    let answers = call.resume.as_ref().and_then(|resume| resume.responses.clone());
    let (tool, Round { asked, state, consent: _ }) = (route.tool, round);
    let mut permitted = Permitted { call, tool, arguments, answers, state, consent, asked, trace: None };
    let Some(source) = route.source else {
        return Box::pin(hub.tasks.answer(&permitted, handle)).await;
    };
    trace.goes_to(source.id());
    handle.goes_to(&*source);
    let _place = enter(hub, handle, &*source, trace).await?;
    let working = trace.step(Step::Source);
    permitted.trace = outgoing(&working, &permitted.call);
    execute(hub, permitted, &*source, handle).await
}

/// Has a person asked. They may take their time: where the call goes by then is looked up and judged once more, and
/// their yes lets it go on only where what it was said under still holds.
async fn agreed(subject: &mut Subject<'_>, handle: &RunHandle) -> Result<Option<Consent>> {
    let Subject { hub, call, trace, .. } = *subject;
    let mut asks = judge_again(subject)?;
    for _ in 0..MOST_ROUNDS {
        if asks.is_empty() {
            return Ok(None);
        }
        let waiting = (hub.metrics.asking(), trace.step(Step::Approval));
        let answer = approve::ask(subject, handle, asks).await;
        drop(waiting);
        hub.metrics.approval(&answer);
        let consent = answer?;
        let asked_for = subject.route.source.clone();
        subject.route = hub.view_for_call(call).await.route(call)?;
        cut_as(hub, call, &subject.route, trace);
        asks = judge_again(subject)?;
        check_input(subject.arguments, &subject.route)?;
        let holds = subject.goes_to(asked_for.as_ref())
            && consent.as_ref().is_some_and(|consent| consent.policy == subject.terms);
        if asks.is_empty() || holds {
            return Ok(consent);
        }
    }
    Err(rules_changed())
}

/// What gates want asked under terms that hold before and after they say so: a yes is kept under the terms, and must
/// not be taken for one to rules that came while they were judging.
fn judge_again(subject: &mut Subject<'_>) -> Result<Vec<Asking>> {
    for _ in 0..MOST_ROUNDS {
        subject.terms = subject.hub.terms(subject.tool());
        let asks = judge(&subject.hub.gates, judged(subject.call, &subject.route), subject.trace)?;
        if subject.terms == subject.hub.terms(subject.tool()) {
            return Ok(asks);
        }
    }
    Err(rules_changed())
}

fn rules_changed() -> Error {
    Error::new(Kind::NeedsApproval, "the rules changed each time a person had answered").hint("call again")
}

/// What gates are shown of a call.
fn judged<'a>(call: &'a Call, route: &'a Route) -> Judged<'a> {
    Judged { call, tool: route.tool.as_deref(), origin: route.source.as_deref().map(Origin::of) }
}

/// Notes how the answer may be cut. What another source asked for is no answer to a client.
fn cut_as(hub: &Inner, call: &Call, route: &Route, trace: &Trace) {
    let is_answer = !route.shows_only && !call.nested;
    if let Some(tool) = route.tool.as_ref().filter(|_| is_answer && hub.cuts().is_some()) {
        // Who searched was given no definition that promises anything.
        let promises_structure = !call.via_search && tool.raw.get("outputSchema").is_some();
        trace.answers_as(Cuttable { promises_structure });
    }
}

/// Makes a call the task that its client wants it to be: what becomes of it from here on, the task tells.
async fn begin_task(call: &Call, route: &Route, handle: &RunHandle) -> Result<()> {
    if route.tool.as_ref().is_none_or(|tool| tool.task == TaskMode::Never) {
        let name = call.target.name();
        return Err(Error::new(Kind::UnknownMethod, format!("`{name}` does not run as a task"))
            .hint("call it without `task`"));
    }
    handle.become_task().await
}

/// Cuts an answer that is too long.
async fn shorten(hub: &Inner, handle: &RunHandle, trace: &Trace, outcome: Outcome) -> Outcome {
    let Some((results, limit)) = hub.cuts() else { return outcome };
    let Some(tool) = trace.cuttable() else { return outcome };
    let about = (tool, &**handle.principal(), handle.client().version);
    Box::pin(results.shorten(outcome, limit, about)).await
}

/// Waits for a place at the source.
async fn enter(hub: &Inner, handle: &RunHandle, source: &dyn Source, trace: &Trace) -> Result<Place> {
    let Some(limiter) = &hub.limiter else { return Ok(Place::default()) };
    match limiter.enter(handle.principal(), source.id()) {
        Admission::Now(place) => Ok(place),
        Admission::Waiting(place) => {
            let _waiting = (hub.metrics.waiting(), trace.step(Step::Place));
            handle.is_queued(true);
            let place = place.await;
            handle.is_queued(false);
            Ok(place)
        }
        Admission::Full => {
            hub.metrics.limited("queue");
            Err(Error::from(TooMany { retry_after: FULL, first: true })
                .hint(format!("too many calls wait for `{}`", source.id())))
        }
    }
}

/// Asks every gate. The first that denies decides; else all that want a person asked are heard.
fn judge(gates: &[Box<dyn Gate>], judged: Judged<'_>, trace: &Trace) -> Result<Vec<Asking>> {
    let mut asks = Vec::new();
    for gate in gates {
        let judgement = guard("gate", || gate.judge(judged)).map_err(|broken| {
            trace.decided_by(gate.name());
            Error::new(Kind::Denied, "a rule broke down, and what cannot be judged is refused")
                .because(broken)
        })?;
        if let Some(rule) = &judgement.rule {
            trace.decided_by(rule.clone());
        }
        match judgement.verdict {
            Verdict::Pass => {}
            Verdict::Deny(error) => {
                if judgement.rule.is_none() {
                    trace.decided_by(gate.name());
                }
                return Err(error);
            }
            Verdict::Ask(reason) => {
                let rule = judgement.rule.unwrap_or_else(|| gate.name().into());
                asks.push(Asking { rule, reason });
            }
        }
    }
    Ok(asks)
}

fn check_input(arguments: &Raw, route: &Route) -> Result<()> {
    let Some(check) = route.tool.as_ref().and_then(|tool| tool.input.as_ref()) else {
        return Ok(());
    };
    check.check(arguments)
}

/// Lets the source answer, and carries its questions to clients of either era.
pub(crate) async fn execute(
    hub: &Inner,
    mut permitted: Permitted,
    source: &dyn Source,
    handle: &RunHandle,
) -> Result<Outcome> {
    for asked in permitted.asked..=MOST_ROUNDS {
        let (call, tool, consent) =
            (permitted.call.clone(), permitted.tool.clone(), permitted.consent.take());
        let (arguments, trace) = (permitted.arguments.clone(), permitted.trace.clone());
        let outcome = source.call(permitted, handle.clone()).await?;
        let Outcome::InputRequired { requests, state } = outcome else {
            return Ok(outcome);
        };
        // Nobody is asked what would not be heard any more.
        if asked == MOST_ROUNDS {
            break;
        }
        // Who waits for a nested call is asked while it goes on, whatever the client speaks.
        if call.client.era() == Era::Modern && !call.nested {
            approve::answerable(&requests, &handle.client().capabilities)?;
            let state = seal(hub, &call, consent.map(|consent| *consent), (asked + 1, state))?;
            return Ok(Outcome::InputRequired { requests, state: Some(state) });
        }
        let answers = Box::pin(handle.ask(approve::questions(&requests)?)).await?;
        let answers = Some(answers.to_raw());
        permitted = Permitted { call, tool, arguments, answers, state, consent, asked, trace };
    }
    Err(Error::new(Kind::Upstream, format!("the server asked more than {MOST_ROUNDS} times in one call")))
}

/// Puts where a call stands into an envelope; the yes that it has waits here for the next round.
fn seal(
    hub: &Inner,
    call: &Call,
    consent: Option<Consent>,
    (asked, state): (usize, Option<String>),
) -> Result<String> {
    let expires_ms = hub.expiry();
    let consent = consent.and_then(|consent| {
        let room = (hub.clock.unix_ms(), hub.settings.load().max_parked);
        hub.consents.keep(consent, expires_ms, room)
    });
    hub.sealer.seal(&State {
        principal: call.principal.id.to_string(),
        digest: digest(&call.target, &call.params),
        expires_ms,
        next: Next::Source(Round { asked, consent, state }),
    })
}

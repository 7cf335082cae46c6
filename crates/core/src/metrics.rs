//! The counters behind `/metrics`. Every label has a small, fixed set of values.

mod durations;
mod exposition;
mod now;
mod reading;
mod totals;

use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::pipeline::Unapproved;
use crate::{Kind, Outcome, Target};
use durations::Durations;
pub use exposition::Exposition;
pub(crate) use now::Now;
pub use reading::Reading;
use reading::Readings;
pub use totals::Totals;

/// The kinds of targets, in the order of their counters.
const TARGETS: [&str; 7] = ["tool", "resource", "prompt", "completion", "subscription", "task", "method"];

/// The limits that refuse requests; one that is not known counts with the last.
const LIMITS: [&str; 3] = ["rate", "queue", "other"];

/// How questions to a person end.
const ANSWERS: [&str; 4] = ["approved", "rejected", "unanswered", "failed"];

type Labels<const N: usize> = [(&'static str, String); N];

/// The counters behind `/metrics`. Every label has a small, fixed set of values.
///
/// All series exist from the start, so counting a call looks nothing up: it adds to a few numbers.
pub struct Metrics {
    registry: Registry,
    outcomes: Outcomes,
    calls: Box<[Counter]>,
    errors: Box<[Counter]>,
    durations: Box<[Durations]>,
    running: Gauge,
    parked: Gauge,
    limited: Box<[Counter]>,
    queued: Gauge,
    asking: Gauge,
    asked: Counter,
    approvals: Box<[Counter]>,
    readings: Readings,
}

/// Counts something for as long as it lives.
pub(crate) struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// All counters, at zero.
    #[expect(clippy::new_without_default, reason = "a hub makes its own, once")]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("toolgate");
        let outcomes = Outcomes::new();
        let pairs =
            TARGETS.iter().flat_map(|target| outcomes.labels.iter().map(move |outcome| [*target, outcome]));
        let pairs = pairs.map(|[target, outcome]| [("target", target.into()), ("outcome", outcome.into())]);
        let kinds = Kind::ALL.iter().map(|kind| [("kind", kind_label(*kind))]);
        let help = "Calls that ended, by kind of target and outcome";
        let calls = family(&mut registry, "calls", help, pairs);
        let errors = family(&mut registry, "errors", "Calls that failed, by kind of error", kinds);
        let help = "How long calls took, by kind of target";
        let durations = family(&mut registry, "call_duration_seconds", help, each("target", &TARGETS));
        let running = gauge(&mut registry, "calls_running", "Calls under way");
        let queued = gauge(&mut registry, "calls_queued", "Calls that wait for a place at their source");
        let parked =
            gauge(&mut registry, "calls_parked", "Calls that wait for a client to come back with answers");
        let help = "Requests refused by a limit, by which";
        let limited = family(&mut registry, "limited", help, each("limit", &LIMITS));
        let asking = gauge(&mut registry, "approvals_waiting", "Calls that wait for a person");
        let asked = Counter::default();
        registry.register("approvals_asked", "Questions put into the inbox", asked.clone());
        let help = "Questions to a person, by how they ended";
        let approvals = family(&mut registry, "approvals", help, each("answer", &ANSWERS));
        let readings = Readings::default();
        Self {
            registry,
            outcomes,
            calls,
            errors,
            durations,
            running,
            parked,
            limited,
            queued,
            asking,
            asked,
            approvals,
            readings,
        }
    }

    /// Says where a number comes from that another part counts. Called while the hub is built.
    pub(crate) fn read(&mut self, reading: Reading, from: impl Fn() -> u64 + Send + Sync + 'static) {
        self.readings.add(reading, from);
    }

    /// What has been counted, in the OpenMetrics text format; what a hub knows only when asked is not in it.
    pub fn encode(&self) -> String {
        written(&[&self.registry])
    }

    /// Every metric there can be, at zero, for the page that lists them.
    pub fn sample() -> String {
        let mut metrics = Self::new();
        for reading in Reading::ALL {
            metrics.read(reading, || 0);
        }
        metrics.scrape(&Now::sample())
    }

    /// What has been counted, and what is so right now.
    pub(crate) fn scrape(&self, now: &Now) -> String {
        written(&[&self.registry, &self.readings.registry(), &now.registry()])
    }

    pub(crate) fn started(&self) {
        self.running.inc();
    }

    pub(crate) fn ended(&self, target: &Target, outcome: &Outcome, took: Duration) {
        self.running.dec();
        let target = position(target);
        inc(&self.calls, target * self.outcomes.labels.len() + self.outcomes.position(outcome));
        if let Some(durations) = self.durations.get(target) {
            durations.observe(took);
        }
        if let Outcome::Failed(error) = outcome {
            inc(&self.errors, error.kind() as usize);
        }
    }

    pub(crate) fn limited(&self, limit: &'static str) {
        let position = LIMITS.iter().position(|known| *known == limit);
        inc(&self.limited, position.unwrap_or(LIMITS.len() - 1));
    }

    pub(crate) fn waiting(&self) -> Counted {
        Counted::new(&self.queued)
    }

    pub(crate) fn asking(&self) -> Counted {
        Counted::new(&self.asking)
    }

    pub(crate) fn asked(&self) {
        self.asked.inc();
    }

    pub(crate) fn approval<T>(&self, answer: &Result<T, Unapproved>) {
        let position = match answer {
            Ok(_) => 0,
            Err(Unapproved::Rejected(_)) => 1,
            Err(Unapproved::Unanswered(_)) => 2,
            Err(Unapproved::Failed(_)) => 3,
        };
        inc(&self.approvals, position);
    }

    pub(crate) fn parked(&self, count: usize) {
        self.parked.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

/// The outcomes that are told apart, and which one an error is.
struct Outcomes {
    labels: Vec<&'static str>,
    failed: Vec<usize>,
}

impl Outcomes {
    fn new() -> Self {
        let mut labels = vec!["complete", "inputRequired", "task"];
        let mut failed = Vec::new();
        for kind in Kind::ALL {
            let known = labels.iter().position(|label| *label == kind.category());
            failed.push(known.unwrap_or(labels.len()));
            if known.is_none() {
                labels.push(kind.category());
            }
        }
        Self { labels, failed }
    }

    fn position(&self, outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Complete(_) => 0,
            Outcome::InputRequired { .. } => 1,
            Outcome::Task(_) => 2,
            Outcome::Failed(error) => self.failed.get(error.kind() as usize).copied().unwrap_or_default(),
        }
    }
}

fn position(target: &Target) -> usize {
    match target {
        Target::Tool(_) => 0,
        Target::Resource(_) => 1,
        Target::Prompt(_) => 2,
        Target::Completion(_) => 3,
        Target::Subscribe(_) | Target::Unsubscribe(_) => 4,
        Target::Task(..) => 5,
        Target::Method(_) => 6,
    }
}

/// `InvalidInput` as other labels would write it.
fn kind_label(kind: Kind) -> String {
    let mut name = format!("{kind:?}");
    name[..1].make_ascii_lowercase();
    name
}

fn each(key: &'static str, values: &'static [&'static str]) -> impl Iterator<Item = Labels<1>> {
    values.iter().map(move |value| [(key, (*value).to_owned())])
}

fn inc(counters: &[Counter], position: usize) {
    if let Some(counter) = counters.get(position) {
        counter.inc();
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

/// Registers one metric for each of these labels, and keeps a hand on all of them.
fn family<const N: usize, M>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    labels: impl Iterator<Item = Labels<N>>,
) -> Box<[M]>
where
    M: Clone + Default + Send + Sync + 'static + std::fmt::Debug,
    Family<Labels<N>, M>: prometheus_client::registry::Metric,
{
    let family: Family<Labels<N>, M> = Family::default();
    let all = labels.map(|labels| family.get_or_create(&labels).clone()).collect();
    registry.register(name, help, family);
    all
}

fn written(registries: &[&Registry]) -> String {
    let mut text = String::new();
    let all = registries.iter().try_for_each(|registry| encode_registry(&mut text, registry));
    if let Err(error) = all.and_then(|()| encode_eof(&mut text)) {
        tracing::error!(%error, "metrics could not be written");
    }
    text
}

#[cfg(test)]
mod tests;

//! The counters behind `/metrics`.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::{Error, Kind, Result};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    target: &'static str,
    outcome: &'static str,
}

/// The counters behind `/metrics`. Every label has a small, fixed set of values.
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    running: Gauge,
    seconds: Histogram,
    parked: Gauge,
    limited: Family<LimitLabels, Counter>,
    waiting: Gauge,
    asked: Counter,
    approvals: Family<ApprovalLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ApprovalLabels {
    answer: &'static str,
}

/// Counts a call that waits for its place, for as long as it lives.
pub(crate) struct Waiting(Gauge);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// All counters, at zero.
    #[expect(clippy::new_without_default, reason = "a hub makes its own, once")]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("toolgate");
        let calls: Family<CallLabels, Counter> = Family::default();
        // A counter should be there before it counts, so that the first step shows.
        drop(calls.get_or_create(&CallLabels { target: "tool", outcome: "complete" }));
        let running = Gauge::default();
        let seconds = Histogram::new([0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0]);
        let parked = Gauge::default();
        registry.register("calls", "Calls that ended, by kind of target and outcome", calls.clone());
        registry.register("calls_running", "Calls under way", running.clone());
        registry.register("call_duration_seconds", "How long calls took", seconds.clone());
        registry.register("calls_parked", "Calls that wait for an answer", parked.clone());
        let (limited, approvals) = (Family::default(), Family::default());
        let (waiting, asked) = (Gauge::default(), Counter::default());
        registry.register("limited", "Requests refused by a limit, by which", limited.clone());
        registry.register("calls_queued", "Calls that wait for a place at their source", waiting.clone());
        registry.register("approvals_asked", "Questions put into the inbox", asked.clone());
        registry.register("approvals", "Questions to a person, by how they ended", approvals.clone());
        Self { registry, calls, running, seconds, parked, limited, waiting, asked, approvals }
    }

    /// The registry, for counters of other parts. Called while the hub is built.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// All counters in the text format of Prometheus.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        if let Err(error) = encode(&mut text, &self.registry) {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }

    pub(crate) fn started(&self) {
        self.running.inc();
    }

    pub(crate) fn ended(&self, target: &'static str, outcome: &'static str, took: Duration) {
        self.running.dec();
        self.calls.get_or_create(&CallLabels { target, outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn limited(&self, limit: &'static str) {
        self.limited.get_or_create(&LimitLabels { limit }).inc();
    }

    pub(crate) fn waiting(&self) -> Waiting {
        self.waiting.inc();
        Waiting(self.waiting.clone())
    }

    pub(crate) fn asked(&self) {
        self.asked.inc();
    }

    pub(crate) fn approval<T>(&self, answer: &Result<T>) {
        let answer = match answer.as_ref().map_err(Error::kind) {
            Ok(_) => "approved",
            Err(Kind::Denied) => "rejected",
            Err(Kind::NeedsApproval) => "unanswered",
            Err(_) => "failed",
        };
        self.approvals.get_or_create(&ApprovalLabels { answer }).inc();
    }

    pub(crate) fn parked(&self, count: usize) {
        self.parked.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

//! The few numbers that a person looks at first.

use std::time::Duration;

use super::Metrics;

/// What was counted since the start, over all kinds of targets, and what is so right now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls that ended.
    pub calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Requests that a limit refused.
    pub limited: u64,
    /// Calls under way.
    pub running: u64,
    /// Calls that wait for a place at their source.
    pub queued: u64,
    /// Calls that wait for a person.
    pub asking: u64,
    /// How many calls took up to this long, and no less than the one before; the last has no end.
    pub took: Vec<(Option<Duration>, u64)>,
}

impl Metrics {
    /// The few numbers that a person looks at first.
    pub fn totals(&self) -> Totals {
        let sum = |counters: &[prometheus_client::metrics::counter::Counter]| {
            counters.iter().map(|counter| counter.get()).sum()
        };
        let now = |gauge: &prometheus_client::metrics::gauge::Gauge| u64::try_from(gauge.get()).unwrap_or(0);
        let mut took: Vec<(Option<Duration>, u64)> = Vec::new();
        for durations in &self.durations {
            for (place, (limit, count)) in durations.counts().enumerate() {
                match took.get_mut(place) {
                    Some((_, sum)) => *sum += count,
                    None => took.push((limit, count)),
                }
            }
        }
        Totals {
            calls: sum(&self.calls),
            failed: sum(&self.errors),
            limited: sum(&self.limited),
            running: now(&self.running),
            queued: now(&self.queued),
            asking: now(&self.asking),
            took,
        }
    }
}

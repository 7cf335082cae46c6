//! What happened lately, in small steps, for graphs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use toolgate_core::{Hub, Totals};
use toolgate_host::Clock;

/// How long a step is.
const STEP: Duration = Duration::from_secs(5);
/// How many steps are kept: an hour.
const MOST: usize = 720;

/// What happened in one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Sample {
    /// When it ended, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// Calls that ended in it.
    pub(crate) calls: u64,
    /// Those of them that failed.
    pub(crate) failed: u64,
    /// Requests that a limit refused in it.
    pub(crate) limited: u64,
    /// How long half of its calls took at most, in milliseconds; nothing where there were none.
    pub(crate) p50_ms: Option<f64>,
    /// How long all but one in twenty took at most.
    pub(crate) p95_ms: Option<f64>,
    /// Calls under way at its end.
    pub(crate) running: u64,
    /// Calls that waited for a place at its end.
    pub(crate) queued: u64,
    /// Calls that waited for a person at its end.
    pub(crate) asking: u64,
}

impl Sample {
    fn between(before: &Totals, now: &Totals, at_ms: u64) -> Self {
        let took: Vec<(Option<Duration>, u64)> = now
            .took
            .iter()
            .enumerate()
            .map(|(place, (limit, count))| {
                (*limit, count - before.took.get(place).map_or(0, |(_, old)| (*old).min(*count)))
            })
            .collect();
        Self {
            at_ms,
            calls: now.calls.saturating_sub(before.calls),
            failed: now.failed.saturating_sub(before.failed),
            limited: now.limited.saturating_sub(before.limited),
            p50_ms: quantile(&took, 50),
            p95_ms: quantile(&took, 95),
            running: now.running,
            queued: now.queued,
            asking: now.asking,
        }
    }
}

/// The upper end of the bucket that holds this percentage; the last has none, so the one before it stands for it.
fn quantile(took: &[(Option<Duration>, u64)], percent: u64) -> Option<f64> {
    let all: u64 = took.iter().map(|(_, count)| count).sum();
    let wanted = (all * percent).div_ceil(100).max(1);
    let mut passed = 0;
    let mut limit = None;
    for (end, count) in took {
        passed += count;
        limit = end.or(limit);
        if passed >= wanted {
            return limit.map(|limit| limit.as_secs_f64() * 1000.0);
        }
    }
    None
}

/// What happened lately.
pub(crate) struct Sampler {
    samples: Mutex<VecDeque<Sample>>,
    newest: watch::Sender<Sample>,
}

impl Sampler {
    /// Looks at a hub for as long as it runs.
    pub(crate) fn start(hub: &Hub, clock: Clock) -> Arc<Self> {
        let this = Arc::new(Self { samples: Mutex::default(), newest: watch::Sender::default() });
        let (weak, hub) = (Arc::downgrade(&this), hub.clone());
        let tasks = hub.tasks().clone();
        tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
            let mut before = hub.metrics().totals();
            loop {
                tokio::time::sleep(STEP).await;
                let Some(this) = weak.upgrade() else { return };
                let now = hub.metrics().totals();
                this.add(Sample::between(&before, &now, clock.unix_ms()));
                before = now;
            }
        }));
        this
    }

    /// All that is kept, oldest first.
    pub(crate) fn all(&self) -> Vec<Sample> {
        self.lock().iter().cloned().collect()
    }

    /// Each as it comes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Sample> {
        self.newest.subscribe()
    }

    /// How many seconds a step has.
    pub(crate) fn step_seconds() -> u64 {
        STEP.as_secs()
    }

    fn add(&self, sample: Sample) {
        let mut samples = self.lock();
        if samples.len() >= MOST {
            samples.pop_front();
        }
        samples.push_back(sample.clone());
        drop(samples);
        self.newest.send_replace(sample);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Sample>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(calls: u64, took: &[u64]) -> Totals {
        let limits = [Some(Duration::from_millis(1)), Some(Duration::from_millis(10)), None];
        Totals { calls, took: limits.into_iter().zip(took.iter().copied()).collect(), ..Totals::default() }
    }

    #[test]
    fn a_sample_is_what_came_since_the_last() {
        let sample = Sample::between(&totals(10, &[5, 5, 0]), &totals(14, &[6, 8, 0]), 7);
        assert_eq!((sample.calls, sample.at_ms), (4, 7));
        assert_eq!((sample.p50_ms, sample.p95_ms), (Some(10.0), Some(10.0)));
        let none = Sample::between(&totals(14, &[6, 8, 0]), &totals(14, &[6, 8, 0]), 8);
        assert_eq!((none.calls, none.p50_ms), (0, None));
    }

    #[test]
    fn a_quantile_is_the_end_of_its_bucket() {
        #[track_caller]
        fn check(took: &[u64], expect: (Option<f64>, Option<f64>)) {
            let took = totals(0, took).took;
            assert_eq!((quantile(&took, 50), quantile(&took, 95)), expect);
        }
        check(&[0, 0, 0], (None, None));
        check(&[1, 0, 0], (Some(1.0), Some(1.0)));
        check(&[50, 50, 0], (Some(1.0), Some(10.0)));
        check(&[0, 0, 3], (Some(10.0), Some(10.0)));
    }
}

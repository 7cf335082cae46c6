//! A histogram of durations that is only added to: no lock on the way of a call.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::metrics::{MetricType, TypedMetric};

/// The upper ends of all buckets but the last, which has none.
const LIMITS: [Duration; 11] = [
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
];

/// What could stand beside a bucket, and does not.
type Exemplars = HashMap<usize, Exemplar<[(String, String); 0], f64>>;

/// A histogram of durations. Clones are the same histogram.
#[derive(Debug, Clone, Default)]
pub(super) struct Durations(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    buckets: [AtomicU64; LIMITS.len() + 1],
    nanos: AtomicU64,
}

impl Durations {
    pub(super) fn observe(&self, took: Duration) {
        let bucket = LIMITS.iter().position(|limit| took <= *limit).unwrap_or(LIMITS.len());
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The upper end of each bucket, and how many are in it.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let limits = LIMITS.iter().copied().map(Some).chain([None]);
        limits.zip(self.0.buckets.iter().map(|count| count.load(Ordering::Relaxed)))
    }
}

impl TypedMetric for Durations {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Durations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let limits = LIMITS.iter().map(Duration::as_secs_f64).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> =
            limits.zip(self.0.buckets.iter().map(|count| count.load(Ordering::Relaxed))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.0.nanos.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram(sum, count, &buckets, None::<&Exemplars>)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

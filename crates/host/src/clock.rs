//! The time, real or moved by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where the time comes from. Clones share the same time.
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System,
    Manual(Arc<Manual>),
}

#[derive(Debug)]
struct Manual {
    origin: Instant,
    start_unix_ms: u64,
    elapsed_ns: AtomicU64,
}

impl Clock {
    /// The clock of the machine.
    pub const fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that stands at `start_unix_ms` until it is advanced.
    pub fn manual(start_unix_ms: u64) -> Self {
        let manual = Manual { origin: Instant::now(), start_unix_ms, elapsed_ns: AtomicU64::new(0) };
        Self(Kind::Manual(Arc::new(manual)))
    }

    /// Moves a manual clock, and all its clones, forward. The clock of the machine cannot be moved.
    pub fn advance(&self, by: Duration) {
        if let Kind::Manual(manual) = &self.0 {
            let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
            manual.elapsed_ns.fetch_add(by, Ordering::AcqRel);
        }
    }

    /// The monotonic time, for deadlines and durations.
    pub fn now(&self) -> Instant {
        match &self.0 {
            Kind::System => Instant::now(),
            Kind::Manual(manual) => manual.origin + manual.elapsed(),
        }
    }

    /// The wall time in milliseconds since 1970, for records. It may jump.
    pub fn unix_ms(&self) -> u64 {
        match &self.0 {
            Kind::System => unix_ms(SystemTime::now()),
            Kind::Manual(manual) => manual.start_unix_ms.saturating_add(whole_ms(manual.elapsed())),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl Manual {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.elapsed_ns.load(Ordering::Acquire))
    }
}

/// A wall time in milliseconds since 1970; a time before that is 0.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, whole_ms)
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

//! How often, and how many at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use toolgate_wire::Raw;

use crate::{Error, Kind, Principal, Result, SourceId, Target};

/// A call that came too soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany {
    /// When it may come again.
    pub retry_after: Duration,
    /// Whether it is the first of a row of refusals, the one that is recorded.
    pub first: bool,
}

/// What was taken for a request, to be given back if a gate denies it. Only the limiter that took it understands the
/// numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Which buckets it was taken of.
    pub buckets: u64,
    /// When the token of the caller's own bucket flows back by itself, if one was taken.
    pub own: Option<u64>,
    /// The same of buckets for the target, each with its place.
    pub targets: Box<[(usize, u64)]>,
}

impl From<TooMany> for Error {
    fn from(too_many: TooMany) -> Self {
        // The sentence is part of the interface, as it stands.
        Self::new(Kind::RateLimited, "Rate limit exceeded. Please try again later.")
            .data(Raw::of(&serde_json::json!({"retryAfterMs": millis(too_many.retry_after)})))
    }
}

/// Whole milliseconds, rounded up: who waits that long is not refused again for having come a moment early.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A place at a source, for as long as it is held.
#[derive(Default)]
pub struct Place(Option<Arc<dyn Vacate>>);

/// Where places are, one of which becomes free.
pub trait Vacate: Send + Sync {
    /// A place that was held is free.
    fn vacate(self: Arc<Self>);
}

impl Place {
    /// A place that is free again when this is dropped.
    pub fn at(places: Arc<dyn Vacate>) -> Self {
        Self(Some(places))
    }

    /// Lets go of a place that nobody had, and that does not become free.
    pub fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(places) = self.0.take() {
            places.vacate();
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.0.is_some()).finish()
    }
}

/// How a call gets its place at a source.
pub enum Admission<'a> {
    /// At once.
    Now(Place),
    /// Once others have ended.
    Waiting(Pin<Box<dyn Future<Output = Place> + Send + 'a>>),
    /// Not at all: too many wait already.
    Full,
}

/// Says how often, and how many at once.
pub trait Limiter: Send + Sync {
    /// Takes a token for a request; `None` stands for one that reaches no source, such as a list.
    fn take(&self, principal: &Principal, target: Option<&Target>) -> Result<Taken, TooMany>;

    /// Gives back what was taken for a call that a gate denied.
    fn give_back(&self, principal: &Principal, target: &Target, taken: &Taken);

    /// Takes a token for a call that a source makes while it answers another. That one was counted already, so only
    /// limits of the target count here. A limiter that makes no difference counts both alike.
    fn take_nested(&self, principal: &Principal, target: &Target) -> Result<Taken, TooMany> {
        self.take(principal, Some(target))
    }

    /// Gives back what was taken for such a call that a gate denied.
    fn give_back_nested(&self, principal: &Principal, target: &Target, taken: &Taken) {
        self.give_back(principal, target, taken);
    }

    /// A place at a source for one call; those who wait are served fairly, principal by principal.
    fn enter(&self, principal: &Principal, source: &SourceId) -> Admission<'_>;
}

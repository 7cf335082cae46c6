//! The time that a script may take, which stands still while a person is asked.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::place::Place;

/// The time that a script may take.
#[derive(Debug)]
pub(crate) struct Wall {
    until: Instant,
    place: Place,
}

/// The time is over.
#[derive(Debug)]
pub(crate) struct Over;

impl Wall {
    pub(crate) fn of(limit: Duration, place: Place) -> Self {
        Self { until: Instant::now() + limit, place }
    }

    /// A person is asked: others may run meanwhile.
    pub(crate) fn step_aside(&mut self) {
        self.place.step_aside();
    }

    /// The script goes on, once there is a place for it again; that is not its time.
    pub(crate) async fn come_back(&mut self) {
        let since = Instant::now();
        self.place.come_back().await;
        self.give_back(since.elapsed());
    }

    /// When it is over, as far as can be told now.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// Gives back time that the script was not to blame for.
    pub(crate) fn give_back(&mut self, time: Duration) {
        self.until += time;
    }

    /// Waits for something, but not beyond the end.
    pub(crate) async fn limit<T>(&self, waited_for: impl Future<Output = T>) -> Result<T, Over> {
        timeout_at(self.until, waited_for).await.map_err(|_| Over)
    }
}

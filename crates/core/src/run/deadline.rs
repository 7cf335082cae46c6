//! A deadline that can be moved while something waits for it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A deadline that can be moved while something waits for it.
pub(super) struct Deadline {
    at: Mutex<Instant>,
    moved: Notify,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        Self { at: Mutex::new(Instant::now() + limit), moved: Notify::new() }
    }

    pub(super) fn set(&self, at: Instant) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at;
        self.moved.notify_one();
    }

    /// Stands still for at most this long; tells how much time was left.
    pub(super) fn pause(&self, longest: Duration) -> Duration {
        let left = self.at().saturating_duration_since(Instant::now());
        self.set(Instant::now() + longest + left);
        left
    }

    pub(super) async fn expired(&self) {
        loop {
            let at = self.at();
            tokio::select! {
                () = sleep_until(at) => if self.at() <= Instant::now() { return },
                () = self.moved.notified() => {}
            }
        }
    }

    fn at(&self) -> Instant {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

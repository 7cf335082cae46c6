//! A deadline that can be moved, and stopped, while something waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolgate_host::Alarms;

/// A deadline that can be moved, and stopped, while something waits for it.
pub(super) struct Deadline {
    state: Mutex<State>,
    moved: Notify,
}

struct State {
    at: Instant,
    /// How many hold the clock.
    holds: usize,
    /// What is left from the moment that nobody holds it any more.
    left: Duration,
}

/// Holds the clock of a deadline until it is dropped.
pub(super) struct Held<'a>(&'a Deadline);

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        let state = State { at: Instant::now() + limit, holds: 0, left: limit };
        Self { state: Mutex::new(state), moved: Notify::new() }
    }

    /// Begins anew with this limit; while the clock is held, it counts from when it goes on.
    pub(super) fn restart(&self, limit: Duration) {
        let mut state = self.lock();
        state.left = limit;
        state.at = Instant::now() + limit;
        drop(state);
        self.moved.notify_one();
    }

    pub(super) fn hold(&self) -> Held<'_> {
        let mut state = self.lock();
        if state.holds == 0 {
            state.left = state.at.saturating_duration_since(Instant::now());
        }
        state.holds += 1;
        drop(state);
        self.moved.notify_one();
        Held(self)
    }

    pub(super) fn is_held(&self) -> bool {
        self.lock().holds > 0
    }

    pub(super) async fn expired(&self, alarms: &Alarms) {
        loop {
            let moved = self.moved.notified();
            let Some(at) = self.running() else {
                moved.await;
                continue;
            };
            tokio::select! {
                () = alarms.at(at) => if self.running().is_some_and(|at| at <= Instant::now()) { return },
                () = moved => {}
            }
        }
    }

    /// When it ends, unless its clock is held.
    fn running(&self) -> Option<Instant> {
        let state = self.lock();
        (state.holds == 0).then_some(state.at)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.holds -= 1;
        if state.holds == 0 {
            state.at = Instant::now() + state.left;
        }
        drop(state);
        self.0.moved.notify_one();
    }
}

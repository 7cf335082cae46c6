//! A breaker: a server that keeps failing is left alone for a while, and its callers told so at once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::{Error, Kind, Result};

/// How many failures in a row open it.
const FAILURES: u32 = 5;

/// How long it stays open at first, and at most.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// Counts failures in a row. Those that ran side by side are one.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

/// When a call was let through: after so many failures that were ever counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// How many were ever counted.
    counted: u64,
    /// What was wrong the last time.
    why: String,
}

impl Breaker {
    /// Lets a call through, unless the server is being left alone. After that time one call finds out.
    pub(crate) fn admit(&self, server: &str) -> Result<Mark> {
        let mut state = self.lock();
        let mark = Mark(state.counted);
        let Some(until) = state.open_until else { return Ok(mark) };
        let now = Instant::now();
        if until <= now {
            // Others wait for what becomes of this one.
            state.open_until = Some(now + SHORTEST);
            return Ok(mark);
        }
        let (times, why) = (state.failures, &state.why);
        let message =
            format!("`{server}` failed {times} times in a row ({why}), and is left alone for a moment");
        Err(Error::new(Kind::ConnectionFailed, message)
            .hint(format!("try again in {} s", (until - now).as_secs() + 1)))
    }

    pub(crate) fn well(&self) {
        let mut state = self.lock();
        *state = State { counted: state.counted, ..State::default() };
    }

    /// A new connection deserves a new trial, but one more failure is enough.
    pub(crate) fn renewed(&self) {
        let mut state = self.lock();
        state.open_until = None;
        state.failures = state.failures.min(FAILURES - 1);
    }

    /// A call failed. It counts if it was let through after the last one that did.
    pub(crate) fn ill(&self, mark: Mark, why: String) {
        let mut state = self.lock();
        if mark.0 != state.counted {
            return;
        }
        state.counted += 1;
        state.why = why;
        state.failures = state.failures.saturating_add(1);
        if let Some(beyond) = state.failures.checked_sub(FAILURES) {
            let pause = SHORTEST.saturating_mul(1 << beyond.min(8)).min(LONGEST);
            state.open_until = Some(Instant::now() + pause);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails as soon as it is let through.
    async fn fail(breaker: &Breaker) {
        tokio::time::advance(LONGEST).await;
        breaker.ill(breaker.admit("a").unwrap(), "no answer".into());
    }

    #[tokio::test(start_paused = true)]
    async fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.ill(breaker.admit("a").unwrap(), "no answer".into());
        }
        assert_eq!(breaker.admit("a").unwrap_err().kind(), Kind::ConnectionFailed);
        tokio::time::advance(SHORTEST).await;
        let mark = breaker.admit("a").expect("one finds out");
        assert!(breaker.admit("a").is_err(), "the others wait");
        breaker.ill(mark, "no answer".into());
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a").is_err(), "it stays open longer");
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a").is_ok());
        breaker.well();
        assert!(breaker.admit("a").is_ok());
        assert!(breaker.admit("a").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_is_tried_at_once_but_only_once() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES * 2 {
            fail(&breaker).await;
        }
        assert!(breaker.admit("a").is_err());
        breaker.renewed();
        breaker.ill(breaker.admit("a").unwrap(), "no answer".into());
        let error = breaker.admit("a").unwrap_err();
        assert_eq!(
            error.message(),
            "`a` failed 5 times in a row (no answer), and is left alone for a moment"
        );
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a").is_ok(), "it is left alone only for the shortest time");
    }

    #[test]
    fn failures_side_by_side_are_one() {
        let breaker = Breaker::default();
        for _ in 1..FAILURES {
            let marks: Vec<Mark> = (0..13).map(|_| breaker.admit("a").unwrap()).collect();
            marks.into_iter().for_each(|mark| breaker.ill(mark, "no answer".into()));
        }
        // One that began before all of this says nothing new, nor does one that began before a success.
        let before = breaker.admit("a").unwrap();
        breaker.well();
        for _ in 1..FAILURES {
            breaker.ill(breaker.admit("a").unwrap(), "no answer".into());
        }
        breaker.ill(before, "no answer".into());
        breaker.ill(breaker.admit("a").expect("there were not enough in a row"), "no answer".into());
        assert!(breaker.admit("a").is_err());
    }
}

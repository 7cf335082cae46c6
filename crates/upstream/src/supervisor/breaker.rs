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

/// A call that was let through, until it is known how it ended.
#[derive(Debug)]
pub(crate) struct Mark<'a> {
    breaker: &'a Breaker,
    /// After so many failures that were ever counted.
    counted: u64,
    /// Which trial it is, if it finds out for others.
    trial: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// The call that finds out, and for how long others wait for what becomes of it.
    trial: Option<(u64, Instant)>,
    trials: u64,
    /// How many were ever counted.
    counted: u64,
    /// What was wrong the last time.
    why: String,
}

impl Breaker {
    /// Lets a call through, unless the server is being left alone. After that time one call finds out, and the others
    /// wait for what becomes of it, but no longer than a call may take.
    pub(crate) fn admit(&self, server: &str, longest: Duration) -> Result<Mark<'_>> {
        let mut state = self.lock();
        let mark = Mark { breaker: self, counted: state.counted, trial: None };
        let Some(until) = state.open_until else { return Ok(mark) };
        let now = Instant::now();
        if until <= now && state.trial.is_none_or(|(_, until)| until <= now) {
            state.trials += 1;
            let trial = state.trials;
            state.trial = Some((trial, now + longest));
            return Ok(Mark { trial: Some(trial), ..mark });
        }
        let (times, why) = (state.failures, &state.why);
        let message =
            format!("`{server}` failed {times} times in a row ({why}), and is left alone for a moment");
        Err(Error::new(Kind::ConnectionFailed, message)
            .hint(format!("try again in {} s", until.saturating_duration_since(now).as_secs() + 1)))
    }

    pub(crate) fn well(&self) {
        let mut state = self.lock();
        *state = State { counted: state.counted, trials: state.trials, ..State::default() };
    }

    /// A new connection deserves a new trial, but one more failure is enough.
    pub(crate) fn renewed(&self) {
        let mut state = self.lock();
        (state.open_until, state.trial) = (None, None);
        state.failures = state.failures.min(FAILURES - 1);
    }

    /// A call failed. It counts if it was let through after the last one that did.
    pub(crate) fn ill(&self, mark: &Mark<'_>, why: String) {
        let mut state = self.lock();
        if mark.counted != state.counted {
            return;
        }
        state.counted += 1;
        state.trial = None;
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

impl Drop for Mark<'_> {
    /// Whatever became of it, it is known, or will never be.
    fn drop(&mut self) {
        let Some(trial) = self.trial else { return };
        let mut state = self.breaker.lock();
        state.trial = state.trial.filter(|(other, _)| *other != trial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a call may take.
    const TIMEOUT: Duration = Duration::from_secs(60);

    /// Fails as soon as it is let through.
    async fn fail(breaker: &Breaker) {
        tokio::time::advance(LONGEST).await;
        breaker.ill(&breaker.admit("a", TIMEOUT).unwrap(), "no answer".into());
    }

    #[tokio::test(start_paused = true)]
    async fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.ill(&breaker.admit("a", TIMEOUT).unwrap(), "no answer".into());
        }
        assert_eq!(breaker.admit("a", TIMEOUT).unwrap_err().kind(), Kind::ConnectionFailed);
        tokio::time::advance(SHORTEST).await;
        let mark = breaker.admit("a", TIMEOUT).expect("one finds out");
        assert!(breaker.admit("a", TIMEOUT).is_err(), "the others wait");
        breaker.ill(&mark, "no answer".into());
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a", TIMEOUT).is_err(), "it stays open longer");
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a", TIMEOUT).is_ok());
        breaker.well();
        assert!(breaker.admit("a", TIMEOUT).is_ok());
        assert!(breaker.admit("a", TIMEOUT).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_is_tried_at_once_but_only_once() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES * 2 {
            fail(&breaker).await;
        }
        assert!(breaker.admit("a", TIMEOUT).is_err());
        breaker.renewed();
        breaker.ill(&breaker.admit("a", TIMEOUT).unwrap(), "no answer".into());
        let error = breaker.admit("a", TIMEOUT).unwrap_err();
        assert_eq!(
            error.message(),
            "`a` failed 5 times in a row (no answer), and is left alone for a moment"
        );
        tokio::time::advance(SHORTEST).await;
        assert!(breaker.admit("a", TIMEOUT).is_ok(), "it is left alone only for the shortest time");
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_finds_out_however_long_it_takes_and_others_wait() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES {
            breaker.ill(&breaker.admit("a", TIMEOUT).unwrap(), "no answer".into());
        }
        tokio::time::advance(SHORTEST).await;
        let trial = breaker.admit("a", TIMEOUT).expect("one finds out");
        tokio::time::advance(TIMEOUT - SHORTEST).await;
        assert!(breaker.admit("a", TIMEOUT).is_err(), "it is not known yet");
        breaker.ill(&trial, "no answer".into());
        drop(trial);
        assert!(breaker.admit("a", TIMEOUT).is_err(), "it is known");
        // One that is given up leaves it to the next, and so does one that takes longer than a call may.
        tokio::time::advance(SHORTEST * 2).await;
        drop(breaker.admit("a", TIMEOUT).expect("one finds out"));
        let slow = breaker.admit("a", TIMEOUT).expect("another finds out");
        tokio::time::advance(TIMEOUT).await;
        let next = breaker.admit("a", TIMEOUT).expect("the first took too long");
        drop(slow);
        assert!(breaker.admit("a", TIMEOUT).is_err(), "the last is waited for");
        drop(next);
        assert!(breaker.admit("a", TIMEOUT).is_ok());
    }

    #[test]
    fn failures_side_by_side_are_one() {
        let breaker = Breaker::default();
        for _ in 1..FAILURES {
            let marks: Vec<Mark<'_>> = (0..13).map(|_| breaker.admit("a", TIMEOUT).unwrap()).collect();
            marks.into_iter().for_each(|mark| breaker.ill(&mark, "no answer".into()));
        }
        // One that began before all of this says nothing new, nor does one that began before a success.
        let before = breaker.admit("a", TIMEOUT).unwrap();
        breaker.well();
        for _ in 1..FAILURES {
            breaker.ill(&breaker.admit("a", TIMEOUT).unwrap(), "no answer".into());
        }
        breaker.ill(&before, "no answer".into());
        breaker
            .ill(&breaker.admit("a", TIMEOUT).expect("there were not enough in a row"), "no answer".into());
        assert!(breaker.admit("a", TIMEOUT).is_err());
    }
}

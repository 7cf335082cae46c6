//! When a stream is opened again.

use std::time::Duration;

use tokio::time::Instant;
use toolgate_wire::sse::Decoder;

/// How long to wait before a stream is opened again: what the server says, within these.
const SOONEST: Duration = Duration::from_millis(10);
const USUAL: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(30);

/// How many streams in a row may bring nothing before that is held against the server.
const IN_VAIN: u32 = 3;

/// What a stream brought.
#[derive(Debug, Default)]
pub(super) struct Brought {
    pub(super) events: usize,
    pub(super) messages: usize,
}

/// When a stream is opened again.
pub(super) struct Again {
    wait: Duration,
    /// How many in a row brought nothing, and ended at once.
    fruitless: u32,
}

impl Default for Again {
    fn default() -> Self {
        Self { wait: USUAL, fruitless: 0 }
    }
}

impl Again {
    /// How long to wait after it could not be opened.
    pub(super) fn failed(&mut self) -> Duration {
        self.wait = (self.wait * 2).clamp(USUAL, LATEST);
        self.wait
    }

    /// How long to wait after it ended.
    pub(super) fn ended(&mut self, decoder: &Decoder, brought: &Brought, begun: Instant) -> Duration {
        let was_worth_it = brought.messages > 0 || begun.elapsed() >= USUAL;
        self.after(decoder.retry().map(Duration::from_millis), was_worth_it)
    }

    fn after(&mut self, said: Option<Duration>, was_worth_it: bool) -> Duration {
        self.wait = said.unwrap_or(USUAL).clamp(SOONEST, LATEST);
        // A server that names a second or more is taken at its word: it wants to be asked from time to time.
        if was_worth_it || said.is_some_and(|said| said >= USUAL) {
            self.fruitless = 0;
            return self.wait;
        }
        let times = 2_u32.saturating_pow(self.fruitless);
        self.fruitless += 1;
        let least = if self.fruitless > IN_VAIN { USUAL } else { SOONEST };
        self.wait = self.wait.saturating_mul(times).clamp(least, LATEST);
        self.wait
    }

    /// Whether it has just become one time too many that a stream brought nothing.
    pub(super) fn is_in_vain(&self) -> bool {
        self.fruitless == IN_VAIN + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_bring_nothing_are_opened_less_and_less_often() {
        #[track_caller]
        fn check(said: Option<u64>, expect: &[u64]) {
            let mut again = Again::default();
            let said = said.map(Duration::from_millis);
            let waits: Vec<u128> = expect.iter().map(|_| again.after(said, false).as_millis()).collect();
            assert_eq!(waits, expect.iter().map(|wait| u128::from(*wait)).collect::<Vec<_>>());
            // One that brings something is waited for as the server says.
            let usual = said.unwrap_or(USUAL).clamp(SOONEST, LATEST);
            assert_eq!(again.after(said, true), usual);
            assert_eq!(again.after(said, false), usual);
        }
        check(Some(0), &[10, 20, 40, 1_000, 1_000, 1_000, 1_000, 1_280, 2_560, 5_120]);
        check(Some(400), &[400, 800, 1_600, 3_200, 6_400]);
        check(None, &[1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        check(Some(2_000), &[2_000, 2_000, 2_000, 2_000, 2_000]);
        check(Some(3_600_000), &[30_000, 30_000]);
    }

    #[test]
    fn it_is_noted_once_that_streams_bring_nothing() {
        let mut again = Again::default();
        let mut noted = |said, was_worth_it| {
            again.after(said, was_worth_it);
            again.is_in_vain()
        };
        let all: Vec<bool> = (0..6).map(|_| noted(None, false)).collect();
        assert_eq!(all, [false, false, false, true, false, false]);
        assert!(!noted(None, true));
        let all: Vec<bool> = (0..6).map(|_| noted(Some(USUAL), false)).collect();
        assert_eq!(all, [false; 6]);
    }

    #[test]
    fn what_cannot_be_opened_is_tried_again_after_twice_the_time() {
        let mut again = Again::default();
        again.after(Some(Duration::ZERO), true);
        let waits: Vec<u64> = (0..7).map(|_| again.failed().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
    }
}

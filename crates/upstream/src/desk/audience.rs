//! Whom a server speaks to that speaks of no call: the clients of the one principal whose connection it is.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::{Afterwards, ConnectionId, RunHandle};
use toolgate_wire::{Era, Raw};

use super::Desk;

/// How many clients are remembered.
const MOST: usize = 16;

/// How long what is said may be, and how many clients may be told something within a time: all clients of a hub wait for
/// what one of them is told.
const LONGEST: usize = 16 * 1024;
const MOST_TOLD: usize = 64;
const WITHIN: Duration = Duration::from_secs(1);

/// The clients that call by a connection which is one principal's own, oldest first.
#[derive(Default)]
pub(super) struct Audience {
    all: VecDeque<Afterwards>,
    pace: Pace,
}

/// How many were told something lately.
#[derive(Default)]
struct Pace {
    told: usize,
    since: Option<Instant>,
}

impl Pace {
    fn allows(&mut self, count: usize) -> bool {
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since >= WITHIN) {
            *self = Self { told: 0, since: Some(now) };
        }
        self.told += count;
        self.told <= MOST_TOLD
    }
}

impl Desk {
    /// A client calls by this connection, which is its principal's own.
    pub(crate) fn speaks_to(&self, run: &RunHandle) {
        let Some(connection) = run.connection().filter(|_| run.client().era() == Era::Legacy) else { return };
        let all = &mut self.lock().audience.all;
        if all.iter().any(|client| client.connection() == connection) {
            return;
        }
        if all.len() == MOST {
            all.pop_front();
        }
        all.extend(run.afterwards());
    }

    /// A client is not there any more.
    pub(crate) fn left(&self, connection: ConnectionId) {
        self.lock().audience.all.retain(|client| client.connection() != connection);
    }

    /// The server says something that belongs to no call, or nobody knows to which.
    pub(super) fn says(&self, method: &str, params: &Raw) {
        let mut state = self.lock();
        let (calls, audience) = (state.calls, &mut state.audience);
        let all: Vec<Afterwards> = audience.all.iter().cloned().collect();
        let is_little = method.len() + params.as_bytes().len() <= LONGEST;
        let may = is_little && audience.pace.allows(all.len());
        drop(state);
        if all.is_empty() {
            // Between calls there is nobody whom it could be for.
            if calls > 1 {
                self.journal.note("speaks without saying of which call", method);
            }
        } else if may {
            all.iter().for_each(|client| client.tell(method, params.clone()));
        } else {
            self.journal.note("sends more than its caller can read", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_so_many_are_told_within_a_time() {
        let mut pace = Pace::default();
        assert!(pace.allows(MOST_TOLD) && !pace.allows(1));
        tokio::time::advance(WITHIN / 2).await;
        assert!(!pace.allows(1));
        tokio::time::advance(WITHIN / 2).await;
        assert!(pace.allows(1));
    }
}

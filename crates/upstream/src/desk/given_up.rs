//! Calls that were given up, and that their server may still be at.

use std::collections::VecDeque;

use tokio::time::Instant;

/// How many are remembered.
const MOST: usize = 64;

/// Calls that were given up, and until when their server may still be at them.
#[derive(Default)]
pub(super) struct GivenUp(VecDeque<(u64, Instant)>);

impl GivenUp {
    /// The oldest makes room: as long as there is any, it does not matter how many there are.
    pub(super) fn add(&mut self, id: u64, until: Instant) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((id, until));
    }

    /// The server has answered it.
    pub(super) fn remove(&mut self, id: u64) {
        self.0.retain(|(other, _)| *other != id);
    }

    /// Whether the server may still be at one.
    pub(super) fn is_any_left(&mut self) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let now = Instant::now();
        self.0.retain(|(_, until)| *until > now);
        !self.0.is_empty()
    }
}

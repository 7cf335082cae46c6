//! Calls that were given up, and that their server may still be at.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::Caller;

/// How many are remembered.
const MOST: usize = 64;

/// Calls that were given up, and until when their server may still be at them.
#[derive(Default)]
pub(super) struct GivenUp(VecDeque<Left>);

struct Left {
    id: u64,
    caller: Caller,
    until: Instant,
}

impl GivenUp {
    /// The oldest makes room: as long as there is any, it does not matter how many there are.
    pub(super) fn add(&mut self, id: u64, caller: Caller, until: Instant) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Left { id, caller, until });
    }

    /// The server has answered it.
    pub(super) fn remove(&mut self, id: u64) {
        self.0.retain(|left| left.id != id);
    }

    /// Whether the server may still be at one.
    pub(super) fn is_any_left(&self) -> bool {
        self.is_any_left_but_of(&Caller::default())
    }

    /// Whether the server may still be at one that is not of this caller.
    pub(super) fn is_any_left_but_of(&self, caller: &Caller) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let now = Instant::now();
        self.0.iter().any(|left| left.until > now && !left.caller.is(caller))
    }
}

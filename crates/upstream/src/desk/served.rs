//! What a server says for calls: one that is silent for one of them may be at the others.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::inbox::Inbox;
use super::{Desk, Ticket};
use crate::fault::Silence;

impl Desk {
    /// Where what the server says is put for a call, which it serves by that.
    pub(super) fn events_of(&self, id: u64) -> Option<Inbox> {
        let mut state = self.lock();
        let waiting = state.waiting.get_mut(&id)?;
        let events = waiting.events.as_mut().map(Inbox::open)?;
        waiting.served += 1;
        self.serves();
        Some(events)
    }

    /// The server has said something for a call.
    pub(super) fn serves(&self) {
        self.served.fetch_add(1, Ordering::Relaxed);
    }

    /// How much the server has said that was for calls: their answers, and what comes before those.
    pub(super) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

impl Ticket {
    /// No answer came for so long. What the server said for this very call before it fell silent is no sign that it is
    /// at others.
    pub(crate) fn silence(&self, limit: Duration) -> Silence {
        let state = self.desk.lock();
        let own = state.waiting.get(&self.id).map_or(0, |waiting| waiting.served);
        Silence { limit, serves_others: self.desk.served() > self.served + own }
    }
}

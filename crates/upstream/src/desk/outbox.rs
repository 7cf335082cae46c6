//! What leaves a desk that nobody waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use toolgate_wire::{method, write};

use super::Desk;

/// A frame on its way out, and whether it has left.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) frame: Bytes,
    pub(crate) left: Option<Arc<AtomicBool>>,
}

impl Out {
    /// It is being sent now, by a transport that sends one after the other.
    pub(crate) fn leave(self) -> Bytes {
        if let Some(left) = self.left {
            left.store(true, Ordering::Release);
        }
        self.frame
    }
}

impl Desk {
    /// Sends a frame that nobody waits for.
    pub(crate) fn post(&self, frame: Bytes) {
        self.send(Out { frame, left: None });
    }

    /// Says that the folders of a client are not what they were. While that waits to be sent it says so of all that
    /// follows, too, and takes no room from others.
    pub(crate) fn roots_changed(&self) {
        let mut state = self.lock();
        if state.roots_told.as_ref().is_some_and(|left| !left.load(Ordering::Acquire)) {
            return;
        }
        let left = Arc::new(AtomicBool::new(false));
        let frame = write::notification(method::ROOTS_LIST_CHANGED, None);
        let is_on_its_way = self.send(Out { frame, left: Some(left.clone()) });
        state.roots_told = Some(left).filter(|_| is_on_its_way);
    }

    /// Puts a frame where it waits to be sent, if there is room.
    fn send(&self, out: Out) -> bool {
        let has_room = self.outbox.try_send(out).is_ok();
        if !has_room && !self.closed.is_cancelled() {
            self.journal.note("does not read what it is sent", "");
        }
        has_room
    }
}

//! What waits for whoever called: so many events, and so many bytes of those that are not small.

use std::sync::{Arc, OnceLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Event;

/// How many events may wait for the client before the source has to.
pub(super) const EVENTS: usize = 32;

/// How many bytes of events may wait: as many as one message of a server has at most.
const BYTES: usize = 16 * 1024 * 1024;

/// An event that is not larger needs no room of its own: so many of them are little.
const SMALL: usize = 64 * 1024;

/// An event that waits, in the room that it takes.
pub(crate) struct Queued {
    pub(crate) event: Event,
    _room: Option<OwnedSemaphorePermit>,
}

/// The room for events that are not small, made when the first of them comes.
#[derive(Default)]
pub(super) struct Room(OnceLock<Arc<Semaphore>>);

impl Room {
    /// An event with its room; waits until there is some.
    pub(super) async fn take(&self, event: Event) -> Box<Queued> {
        let bytes = event.bytes();
        if bytes <= SMALL {
            return Box::new(Queued { event, _room: None });
        }
        let all = self.0.get_or_init(|| Arc::new(Semaphore::new(BYTES))).clone();
        // Boxed, because hardly any event is so large.
        let room = Box::pin(all.acquire_many_owned(u32::try_from(bytes.min(BYTES)).unwrap_or(u32::MAX)));
        // It is never closed.
        Box::new(Queued { event, _room: room.await.ok() })
    }
}

impl Event {
    /// How much room it takes while it waits. The end of a call is waited for anyway.
    fn bytes(&self) -> usize {
        match self {
            Self::Progress(progress) => progress.0.as_bytes().len(),
            Self::Log(log) => log.params.as_bytes().len(),
            Self::Ask(ask) => ask.questions.iter().map(|question| question.params.as_bytes().len()).sum(),
            Self::Other { method, params } => method.len() + params.as_bytes().len(),
            Self::HangUp | Self::Done(_) => 0,
        }
    }
}

//! What waits to be looked at: so many things, and so many bytes of them; then the server waits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{Heard, MESSAGE_LIMIT};

/// How many things may wait.
const THINGS: usize = 256;

/// How many bytes of messages may wait.
const BYTES: usize = 2 * MESSAGE_LIMIT;

/// Where a transport puts what it hears.
#[derive(Debug, Clone)]
pub(super) struct Ear {
    things: mpsc::Sender<(Heard, Option<OwnedSemaphorePermit>)>,
    room: Arc<Semaphore>,
}

/// What waits.
#[derive(Debug)]
pub(super) struct Queue(mpsc::Receiver<(Heard, Option<OwnedSemaphorePermit>)>);

/// Nobody listens any more.
#[derive(Debug)]
pub(super) struct Deaf;

pub(super) fn queue() -> (Ear, Queue) {
    let (things, waiting) = mpsc::channel(THINGS);
    (Ear { things, room: Arc::new(Semaphore::new(BYTES)) }, Queue(waiting))
}

impl Ear {
    /// Hands something over, as soon as there is room for it.
    pub(super) async fn send(&self, heard: Heard) -> Result<(), Deaf> {
        let room = match &heard {
            Heard::Text(text, _) => {
                let bytes = u32::try_from(text.len().min(BYTES)).unwrap_or(u32::MAX);
                // Whoever leaves the queue lets go of all that is in it, so that nobody waits here for ever.
                Some(self.room.clone().acquire_many_owned(bytes).await.map_err(|_| Deaf)?)
            }
            Heard::TooLarge(_) | Heard::Head { .. } | Heard::Over { .. } | Heard::Closed(_) => None,
        };
        self.things.send((heard, room)).await.map_err(|_| Deaf)
    }
}

impl Queue {
    /// The next thing; none where nothing will come any more.
    pub(super) async fn next(&mut self) -> Option<Heard> {
        self.0.recv().await.map(|(heard, _)| heard)
    }

    /// The next thing that is there already.
    pub(super) fn ready(&mut self) -> Option<Heard> {
        self.0.try_recv().ok().map(|(heard, _)| heard)
    }

    /// Takes nothing more; what is there stays.
    pub(super) fn shut(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn text(size: usize) -> Heard {
        Heard::Text(Bytes::from(vec![b' '; size]), None)
    }

    #[tokio::test]
    async fn who_brings_more_than_there_is_room_for_waits_until_somebody_looks() {
        let (ear, mut queue) = queue();
        ear.send(text(MESSAGE_LIMIT)).await.unwrap();
        ear.send(text(MESSAGE_LIMIT)).await.unwrap();
        let mut third = Box::pin(ear.send(text(1)));
        assert!(polled(&mut third).await.is_none(), "there is room for two of the largest");
        assert!(queue.next().await.is_some());
        assert!(third.await.is_ok());
    }

    #[tokio::test]
    async fn nobody_waits_for_a_queue_that_is_gone() {
        let (ear, queue) = queue();
        ear.send(text(MESSAGE_LIMIT)).await.unwrap();
        ear.send(text(MESSAGE_LIMIT)).await.unwrap();
        let mut third = Box::pin(ear.send(text(1)));
        assert!(polled(&mut third).await.is_none());
        drop(queue);
        assert!(third.await.is_err());
    }

    /// What a future has come to, if it has.
    async fn polled<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}

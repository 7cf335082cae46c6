//! Where what a server says waits for its call: it may say much, and its caller read slowly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::Said;
use crate::transport::MESSAGE_LIMIT;

/// How many events of one call may wait for it; a server that floods loses what is beyond.
const EVENTS: usize = 64;

/// How many bytes of one call may wait for it, or be asked and not answered. One message fits, whatever its size.
const BYTES: usize = MESSAGE_LIMIT;

/// What it takes to have a question open, however short it is.
const QUESTION: usize = 64 * 1024;

/// What a server said, in the room that it takes.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) said: Said,
    pub(crate) room: Room,
}

/// Some of the room for one call, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    taken: Arc<AtomicUsize>,
    bytes: usize,
}

/// Where what a server says waits for its call.
#[derive(Clone)]
pub(super) struct Inbox {
    /// Boxed, because a channel makes room for many at once and most calls are told nothing.
    sender: mpsc::Sender<Box<Told>>,
    /// How many bytes are there, once there are any.
    taken: Option<Arc<AtomicUsize>>,
}

impl Inbox {
    pub(super) fn new() -> (Self, mpsc::Receiver<Box<Told>>) {
        let (sender, receiver) = mpsc::channel(EVENTS);
        (Self { sender, taken: None }, receiver)
    }

    /// The same, for who has something to put into it.
    pub(super) fn open(&mut self) -> Self {
        self.taken.get_or_insert_default();
        self.clone()
    }

    /// Puts something into it; gives it back where there is no room.
    pub(super) fn put(&self, said: Said) -> Result<(), Said> {
        let Some(room) = self.room(said.bytes()) else { return Err(said) };
        self.sender.try_send(Box::new(Told { said, room })).map_err(|error| {
            let (mpsc::error::TrySendError::Full(told) | mpsc::error::TrySendError::Closed(told)) = error;
            told.said
        })
    }

    fn room(&self, bytes: usize) -> Option<Room> {
        let taken = self.taken.clone().unwrap_or_default();
        let with_it = |taken: usize| Some(taken + bytes).filter(|sum| taken == 0 || *sum <= BYTES);
        taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_it).ok()?;
        Some(Room { taken, bytes })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Said {
    /// How much room it takes.
    fn bytes(&self) -> usize {
        match self {
            Self::Progress(params) | Self::Log(params) | Self::Visited(params, _) => params.as_bytes().len(),
            Self::Other(method, params) => method.len() + params.as_bytes().len(),
            Self::Asked(question) => QUESTION + question.id.as_str().len() + question.params.as_bytes().len(),
            Self::Withdrawn(id) => id.as_str().len(),
            Self::TaskMoved => 0,
        }
    }
}

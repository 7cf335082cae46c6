//! The events of one stream, kept for a while so that a client can come back for what it missed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::Notify;
use toolgate_wire::sse::{Event, encode};
use toolgate_wire::write::one_line;

/// How many events a connected client may be behind before the call has to wait.
const MOST_BEHIND: u64 = 64;

/// How many events, and how many bytes of them, are kept for a client that is away.
const MOST_EVENTS: usize = 1024;
const MOST_BYTES: usize = 1024 * 1024;

/// How many bytes all logs may keep together.
const MOST_BYTES_IN_ALL: usize = 256 * 1024 * 1024;

/// How long a client is told to wait before it comes back.
const RETRY_MS: u64 = 500;

/// The bytes that all logs keep together.
pub(super) type Budget = Arc<AtomicUsize>;

/// The events of one stream.
pub(crate) struct EventLog {
    stream: u64,
    state: Mutex<State>,
    changed: Notify,
    budget: Budget,
}

struct State {
    kept: VecDeque<Bytes>,
    /// The number of the first event that is kept.
    first: u64,
    bytes: usize,
    /// The number of the event that the reader takes next.
    taken: u64,
    /// Counts readers; only the newest one goes on.
    reader: u64,
    /// The reader that is to leave once it has read what is there.
    dismissed: u64,
    connected: bool,
    ended: Option<Instant>,
}

impl EventLog {
    /// A log; `primed`, its first event has no data and lets the client come back before there is any.
    pub(super) fn new(stream: u64, primed: bool, budget: Budget) -> Arc<Self> {
        let state = State {
            kept: VecDeque::new(),
            first: 0,
            bytes: 0,
            taken: 0,
            reader: 0,
            dismissed: 0,
            connected: false,
            ended: None,
        };
        let this = Self { stream, state: Mutex::new(state), changed: Notify::new(), budget };
        if primed {
            this.keep(Bytes::new(), Some(RETRY_MS));
        }
        Arc::new(this)
    }

    pub(super) fn stream(&self) -> u64 {
        self.stream
    }

    /// Adds an event; waits while a connected client is far behind.
    pub(super) async fn push(&self, frame: Bytes) {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.lock();
                if !state.connected || state.next() - state.taken.min(state.next()) < MOST_BEHIND {
                    break;
                }
            }
            changed.await;
        }
        self.keep(one_line(frame), None);
    }

    fn keep(&self, data: Bytes, retry: Option<u64>) {
        let mut state = self.lock();
        let id = Some(format!("{}-{}", self.stream, state.next()));
        let mut piece = Vec::with_capacity(data.len() + 32);
        encode(&Event { id, event: None, data, retry }, &mut piece);
        state.bytes += piece.len();
        self.budget.fetch_add(piece.len(), Ordering::Relaxed);
        state.kept.push_back(piece.into());
        while state.is_too_much(self.budget.load(Ordering::Relaxed)) {
            let Some(old) = state.kept.pop_front() else { break };
            state.first += 1;
            state.bytes -= old.len();
            self.budget.fetch_sub(old.len(), Ordering::Relaxed);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Nothing more will come.
    pub(super) fn end(&self) {
        self.lock().ended = Some(Instant::now());
        self.changed.notify_waiters();
    }

    /// Ends the connection once the client has all that is there; the stream itself goes on.
    pub(super) fn hang_up(&self) {
        let mut state = self.lock();
        state.dismissed = state.reader;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Whether it ended so long ago that nobody will come back for it.
    pub(super) fn is_over(&self, after: Duration) -> bool {
        self.lock().ended.is_some_and(|ended| ended.elapsed() > after)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.lock().connected
    }

    /// The number that a client which wants only what is new begins with: behind all that was read before.
    pub(super) fn end_number(&self) -> u64 {
        self.lock().taken
    }

    /// Whether the event with this number, and all behind it, can still be read.
    pub(super) fn reaches_back_to(&self, number: u64) -> bool {
        let state = self.lock();
        (state.first..=state.next()).contains(&number)
    }

    /// Reads from an event on; whoever read before is cut off.
    pub(super) fn reader(self: Arc<Self>, from: u64) -> Reader {
        let mut state = self.lock();
        state.reader += 1;
        state.connected = true;
        state.taken = from;
        let number = state.reader;
        drop(state);
        self.changed.notify_waiters();
        Reader { log: self, number, next: from }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        let bytes = self.lock().bytes;
        self.budget.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl State {
    /// The number that the next event gets.
    fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// Whether the oldest event has to go. What a connected client has not read yet stays, and so does the newest.
    fn is_too_much(&self, in_all: usize) -> bool {
        let over = self.kept.len() > MOST_EVENTS || self.bytes > MOST_BYTES || in_all > MOST_BYTES_IN_ALL;
        over && self.kept.len() > 1 && (!self.connected || self.first < self.taken)
    }
}

/// Reads a log, as long as no other reader takes over.
pub(super) struct Reader {
    log: Arc<EventLog>,
    number: u64,
    next: u64,
}

impl Reader {
    /// The next event; `None` at the end, or when another reader took over.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Registered before the look, so that nothing is missed in between.
            let mut changed = std::pin::pin!(self.log.changed.notified());
            changed.as_mut().enable();
            {
                let mut state = self.log.lock();
                if state.reader != self.number {
                    return None;
                }
                let place = self.next.saturating_sub(state.first);
                if let Some(piece) =
                    usize::try_from(place).ok().and_then(|place| state.kept.get(place)).cloned()
                {
                    self.next = self.next.max(state.first) + 1;
                    state.taken = self.next;
                    drop(state);
                    self.log.changed.notify_waiters();
                    return Some(piece);
                }
                if state.ended.is_some() || state.dismissed == self.number {
                    return None;
                }
            }
            changed.await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.log.lock();
        if state.reader == self.number {
            state.connected = false;
        }
        drop(state);
        self.log.changed.notify_waiters();
    }
}

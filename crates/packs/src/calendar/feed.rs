//! A feed: where it comes from, and what was last read of it.
//!
//! Whoever knows the address of a feed can read the calendar. So nothing of here names one, not even to the log.

mod local;
mod remote;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_core::Kind;
use toolgate_host::Clock;

use super::book::Book;

pub(super) use local::Local;
pub(super) use remote::Remote;

pub use remote::address_forms;

/// How long one that failed is left alone at most.
const PAUSE_MS: u64 = 60_000;

/// A feed.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) name: String,
    place: Place,
    refresh_ms: u64,
    clock: Clock,
    kept: Mutex<Option<Arc<Kept>>>,
    /// When it last failed, and why, unless it was read since.
    failed: Mutex<Option<(u64, Trouble)>>,
}

#[derive(Debug)]
pub(super) enum Place {
    Remote(Remote),
    Local(Local),
}

/// What was last read.
#[derive(Debug)]
struct Kept {
    book: Arc<Book>,
    /// By what its source tells it from another.
    mark: Mark,
    at_ms: u64,
}

/// By what a source tells one state from another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    entity: Option<http::HeaderValue>,
    modified: Option<http::HeaderValue>,
    /// Time and size of a file.
    file: Option<(u64, u64)>,
}

/// What a source answers.
#[derive(Debug)]
pub(super) enum Answer {
    Same,
    New { body: Vec<u8>, mark: Mark },
}

/// Why there is nothing of a feed. Its words go to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) kind: Kind,
    pub(super) message: String,
}

impl Trouble {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// What is there of a feed.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) book: Arc<Book>,
    /// When it was read.
    pub(super) at_ms: u64,
    /// Why it is not a newer one.
    pub(super) trouble: Option<Trouble>,
}

impl Feed {
    pub(super) fn new(name: &str, place: Place, refresh_ms: u64, clock: Clock) -> Self {
        Self {
            name: name.to_owned(),
            place,
            refresh_ms,
            clock,
            kept: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// What the feed holds now; what it held before, if that cannot be told.
    pub(super) async fn read(&self) -> Result<Copy, Trouble> {
        let kept = self.kept();
        let now = self.clock.unix_ms();
        let is_remote = matches!(self.place, Place::Remote(_));
        let fresh = kept.clone().filter(|kept| is_remote && now.saturating_sub(kept.at_ms) < self.refresh_ms);
        if let Some(kept) = fresh {
            return Ok(Copy { book: kept.book.clone(), at_ms: kept.at_ms, trouble: None });
        }
        let pause_ms = self.refresh_ms.min(PAUSE_MS);
        let failed =
            lock(&self.failed).clone().filter(|(at, _)| is_remote && now.saturating_sub(*at) < pause_ms);
        let asked = match failed {
            Some((_, trouble)) => Err(trouble),
            None => {
                let asked = self.ask(kept.as_deref(), now).await;
                *lock(&self.failed) = asked.as_ref().err().map(|trouble| (now, trouble.clone()));
                asked
            }
        };
        match (asked, kept) {
            (Ok(kept), _) => {
                let copy = Copy { book: kept.book.clone(), at_ms: kept.at_ms, trouble: None };
                *lock(&self.kept) = Some(Arc::new(kept));
                Ok(copy)
            }
            (Err(trouble), Some(kept)) => {
                Ok(Copy { book: kept.book.clone(), at_ms: kept.at_ms, trouble: Some(trouble) })
            }
            (Err(trouble), None) => Err(trouble),
        }
    }

    fn kept(&self) -> Option<Arc<Kept>> {
        lock(&self.kept).clone()
    }

    async fn ask(&self, kept: Option<&Kept>, now: u64) -> Result<Kept, Trouble> {
        let mark = kept.map(|kept| kept.mark.clone()).unwrap_or_default();
        let answer = match &self.place {
            Place::Remote(remote) => remote.ask(&mark).await?,
            Place::Local(local) => local.ask(&mark).await?,
        };
        let (body, mark) = match (answer, kept) {
            (Answer::Same, Some(kept)) => {
                return Ok(Kept { book: kept.book.clone(), mark, at_ms: now });
            }
            (Answer::Same, None) => (Vec::new(), mark),
            (Answer::New { body, mark }, _) => (body, mark),
        };
        let reading = tokio::task::spawn_blocking(move || Book::read(&body));
        let broken = |_| Trouble::new(Kind::Internal, "could not be read");
        let book = reading.await.map_err(broken)?;
        let book = book.map_err(|_| Trouble::new(Kind::Upstream, "is no iCalendar feed"))?;
        Ok(Kept { book: Arc::new(book), mark, at_ms: now })
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

//! How many programs start at once in this process, so that hundreds of servers do not fight for a few processors.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// How many programs start at once for each processor.
const FOR_EACH: usize = 2;

/// A program that is not ready after this long mostly waits for something other than a processor.
const LONGEST: Duration = Duration::from_secs(2);

/// This many times as many waiting as may start at once are a crowd: what they have comes later than anybody waits.
const CROWD: usize = 4;

/// How many programs start at once. Clones are the same; all upstreams of a process share one.
#[derive(Debug, Clone)]
pub struct Starts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    turns: Semaphore,
    at_once: usize,
    longest: Duration,
    waiting: watch::Sender<usize>,
}

/// The turn of one program to start.
pub(crate) struct Turn<'a> {
    _permit: Option<SemaphorePermit<'a>>,
}

/// One that waits for its turn.
struct Waiting<'a>(&'a watch::Sender<usize>);

impl Starts {
    /// At most so many at once; one that is not ready after `longest` makes room for another.
    pub fn new(at_once: usize, longest: Duration) -> Self {
        let at_once = at_once.max(1);
        Self(Arc::new(Inner {
            turns: Semaphore::new(at_once),
            at_once,
            longest,
            waiting: watch::channel(0).0,
        }))
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        let _waiting = Waiting::new(&self.0.waiting);
        // It is never closed.
        Turn { _permit: self.0.turns.acquire().await.ok() }
    }

    /// Does something within a turn, or goes on without it when that takes long.
    pub(crate) async fn within<T>(&self, turn: Turn<'_>, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        if let Ok(done) = tokio::time::timeout(self.0.longest, &mut work).await {
            return done;
        }
        drop(turn);
        work.await
    }

    /// Completes when a crowd waits.
    pub(crate) async fn crowded(&self) {
        let mut waiting = self.0.waiting.subscribe();
        let crowd = self.0.at_once * CROWD;
        // The sender lives as long as this does.
        drop(waiting.wait_for(|waiting| *waiting >= crowd).await);
    }
}

impl Default for Starts {
    /// As many as suit the processors of this machine.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(processors * FOR_EACH, LONGEST)
    }
}

impl<'a> Waiting<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_turn_ends_with_the_work_or_with_the_time_for_it() {
        let starts = Starts::new(1, Duration::from_secs(2));
        let slow = async {
            let turn = starts.turn().await;
            starts.within(turn, tokio::time::sleep(Duration::from_secs(60))).await;
        };
        let begun = tokio::time::Instant::now();
        let next = async {
            let turn = starts.turn().await;
            starts.within(turn, std::future::ready(begun.elapsed())).await
        };
        let ((), waited) = tokio::join!(slow, next);
        assert_eq!((waited, begun.elapsed()), (Duration::from_secs(2), Duration::from_secs(60)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_is_many_times_as_many_as_may_start() {
        let starts = Starts::new(2, Duration::from_secs(2));
        let _turns = (starts.turn().await, starts.turn().await);
        let crowded = async || tokio::time::timeout(Duration::from_secs(1), starts.crowded()).await.is_ok();
        let mut waiting: Vec<_> = (0..8).map(|_| Box::pin(starts.turn())).collect();
        for (place, turn) in waiting.iter_mut().enumerate() {
            assert!(!crowded().await, "{place}");
            assert!(tokio::time::timeout(Duration::from_millis(1), turn).await.is_err());
        }
        assert!(crowded().await);
        drop(waiting);
        assert!(!crowded().await);
    }
}

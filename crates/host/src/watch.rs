//! What changes below a root, gathered until it is quiet.
//!
//! Folders named `.git`, `node_modules` or `target` are not watched, and neither is what symbolic links lead to.

mod files;
mod notified;
mod pending;
mod polled;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::files::{FileError, RelPath, Root};
use crate::tasks::Tasks;
pub use files::FileWatch;
use notified::Notified;
use pending::Pending;

const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];
const MAX_ENTRIES: usize = 100_000;
const POLL_INTERVAL: Duration = Duration::from_secs(2);
// Where something is always changing, it is told at last after this many quiet times.
const PATIENCE: u32 = 4;

/// What changed since it was last told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Files that were written, made or removed. A folder stands for all that is, or was, in it.
    Paths(BTreeSet<RelPath>),
    /// Too much to name: anything may have changed.
    Many,
}

/// Tells changes below a root. Dropping it stops the watching.
#[derive(Debug)]
pub struct Watch {
    pending: Arc<Pending>,
    debounce: Duration,
    _stop: DropGuard,
}

impl Root {
    /// Watches all files below the root; changes are told when nothing has changed for `debounce`.
    ///
    /// If the system cannot watch so many folders, it looks for changes every two seconds or more.
    pub async fn watch(&self, tasks: &Tasks, debounce: Duration) -> Result<Watch, FileError> {
        let pending = Arc::new(Pending::default());
        match Notified::start(self.clone(), Arc::clone(&pending)).await {
            Ok(notified) => Ok(launch(tasks, debounce, pending, |stop| notified.run(stop))),
            Err(error) => {
                tracing::warn!(%error, "cannot watch for changes; looking for them every few seconds instead");
                self.poll(tasks, debounce, POLL_INTERVAL, pending).await
            }
        }
    }

    async fn poll(
        &self,
        tasks: &Tasks,
        debounce: Duration,
        interval: Duration,
        pending: Arc<Pending>,
    ) -> Result<Watch, FileError> {
        let before = polled::look(self).await?;
        let (root, shared) = (self.clone(), Arc::clone(&pending));
        let run = |stop| async move { polled::run(&root, &shared, before, interval, stop).await };
        Ok(launch(tasks, debounce, pending, run))
    }
}

impl Watch {
    /// What changed since it was last told, as far as it is known by now; waits for nothing.
    pub fn so_far(&self) -> Option<Changes> {
        self.pending.take()
    }

    /// Whether the system tells changes as they happen; else they are looked for every few seconds.
    pub fn is_prompt(&self) -> bool {
        !self.pending.is_polled()
    }

    /// Waits for changes; nothing more comes once the owner of the tasks stops. Safe to cancel.
    pub async fn next(&mut self) -> Option<Changes> {
        self.pending.wait().await;
        let patience = Instant::now() + self.debounce * PATIENCE;
        loop {
            let seen = self.pending.count();
            if self.pending.is_closed() {
                return self.pending.take();
            }
            sleep(self.debounce).await;
            if self.pending.count() == seen || Instant::now() >= patience {
                return self.pending.take();
            }
        }
    }
}

fn launch<F>(
    tasks: &Tasks,
    debounce: Duration,
    pending: Arc<Pending>,
    run: impl FnOnce(CancellationToken) -> F,
) -> Watch
where
    F: Future<Output = ()> + Send + 'static,
{
    let stop = tasks.stopping();
    let running = run(stop.clone());
    let shared = Arc::clone(&pending);
    tasks.spawn(async move {
        running.await;
        shared.close();
    });
    Watch { pending, debounce, _stop: stop.drop_guard() }
}

fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name)
}

#[cfg(test)]
mod tests;

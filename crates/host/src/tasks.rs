//! An owner of tasks: it can tell them to stop, and wait until they have.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How long aborted tasks get to reach their next `await`; one that blocks its thread never does.
const ABORT_GRACE: Duration = Duration::from_millis(500);

/// Owns the tasks spawned through it and through its children. Clones are the same owner.
#[derive(Clone, Debug)]
pub struct Tasks(Arc<Owner>);

/// Work that did not end with a value.
#[derive(Debug, thiserror::Error)]
pub enum TaskFailed {
    /// It panicked; the message was logged.
    #[error("internal task panicked: {0}")]
    Panicked(String),
    /// The runtime stopped before it ran.
    #[error("internal task was cancelled")]
    Cancelled,
}

#[derive(Debug)]
struct Owner {
    parent: Option<Tasks>,
    tracker: TaskTracker,
    stop: CancellationToken,
    killed: AtomicBool,
    members: Mutex<HashMap<u64, Member>>,
}

#[derive(Debug)]
struct Member {
    // Absent until the task is spawned, and for blocking work, which cannot be aborted.
    abort: Option<AbortHandle>,
    _token: TaskTrackerToken,
}

/// Strikes a task off the lists of its owners when it ends, however it ends.
struct Membership {
    owner: Tasks,
    id: u64,
}

impl Tasks {
    /// An owner without tasks.
    pub fn new() -> Self {
        Self::under(None, CancellationToken::new())
    }

    /// An owner whose tasks belong to this one too: stopping this one stops the child, not the reverse.
    pub fn child(&self) -> Self {
        Self::under(Some(self.clone()), self.0.stop.child_token())
    }

    /// Starts a task. It runs until it ends; one that should end at shutdown watches [`stopping`](Self::stopping).
    ///
    /// A panic is logged and reaches the handle as a `JoinError`; other tasks do not notice.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let membership = self.admit();
        let id = membership.id;
        // Boxed, or the task would have room for it three times: here, in what guards it, and where it is polled.
        let future = Box::pin(future);
        let task = async move {
            let _membership = membership;
            logging_panics(future).await
        };
        #[expect(clippy::disallowed_methods, reason = "this is the owner that all tasks are spawned through")]
        let handle = tokio::spawn(task);
        self.enrol(id, &handle.abort_handle());
        handle
    }

    /// Runs `work` on a thread that may block, and waits for it.
    pub async fn blocking<T, F>(&self, work: F) -> Result<T, TaskFailed>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let membership = self.admit();
        let outcome = tokio::task::spawn_blocking(move || {
            let _membership = membership;
            work()
        });
        match outcome.await {
            Ok(value) => Ok(value),
            Err(error) => Err(TaskFailed::from_join(error)),
        }
    }

    /// A token that is cancelled when the tasks should come to an end.
    pub fn stopping(&self) -> CancellationToken {
        self.0.stop.child_token()
    }

    /// Asks all tasks to stop, waits up to `grace`, then aborts what is left. Says whether all ended by
    /// themselves. A task that is spawned afterwards is aborted at once.
    pub async fn shutdown(&self, grace: Duration) -> bool {
        self.0.stop.cancel();
        self.0.tracker.close();
        let ended = tokio::time::timeout(grace, self.0.tracker.wait()).await.is_ok();
        self.0.killed.store(true, Ordering::SeqCst);
        if ended {
            return true;
        }
        let left: Vec<_> = self.members().values().filter_map(|member| member.abort.clone()).collect();
        left.iter().for_each(AbortHandle::abort);
        if tokio::time::timeout(ABORT_GRACE, self.0.tracker.wait()).await.is_err() {
            tracing::warn!(left = self.len(), "tasks are blocked and could not be aborted");
        }
        false
    }

    /// How many tasks are under way, those of children included.
    pub fn len(&self) -> usize {
        self.0.tracker.len()
    }

    /// Whether no task is under way.
    pub fn is_empty(&self) -> bool {
        self.0.tracker.is_empty()
    }

    fn under(parent: Option<Self>, stop: CancellationToken) -> Self {
        Self(Arc::new(Owner {
            parent,
            tracker: TaskTracker::new(),
            stop,
            killed: AtomicBool::new(false),
            members: Mutex::default(),
        }))
    }

    /// Puts a task that is about to start on the list of this owner and of all above it.
    fn admit(&self) -> Membership {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        for owner in self.lineage() {
            let member = Member { abort: None, _token: owner.0.tracker.token() };
            owner.members().insert(id, member);
        }
        Membership { owner: self.clone(), id }
    }

    /// Notes how to abort the task, unless it has ended already.
    fn enrol(&self, id: u64, abort: &AbortHandle) {
        for owner in self.lineage() {
            if let Some(member) = owner.members().get_mut(&id) {
                member.abort = Some(abort.clone());
            }
            // A shutdown that ran between `admit` and here did not see the handle.
            if owner.0.killed.load(Ordering::SeqCst) {
                abort.abort();
            }
        }
    }

    fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |owner| owner.0.parent.as_ref())
    }

    fn members(&self) -> MutexGuard<'_, HashMap<u64, Member>> {
        self.0.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        for owner in self.owner.lineage() {
            let member = owner.members().remove(&self.id);
            // Wakes who waits for the last task, so not under the lock.
            drop(member);
        }
    }
}

impl TaskFailed {
    /// What a join error means.
    pub(crate) fn from_join(error: tokio::task::JoinError) -> Self {
        match error.try_into_panic() {
            Ok(payload) => {
                let message = panic_message(payload.as_ref()).to_owned();
                tracing::error!(panic = message, "blocking work panicked");
                Self::Panicked(message)
            }
            Err(_) => Self::Cancelled,
        }
    }
}

async fn logging_panics<F: Future>(mut future: Pin<Box<F>>) -> F::Output {
    let outcome = std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => std::task::Poll::Ready(Err(payload)),
        }
    });
    match outcome.await {
        Ok(value) => value,
        Err(payload) => {
            tracing::error!(panic = panic_message(payload.as_ref()), "task panicked");
            resume_unwind(payload)
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

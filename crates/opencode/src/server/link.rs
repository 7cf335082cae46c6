//! A server in use: its client, its events, what runs on it, and its end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use toolgate_host::{Clock, Tasks};

use super::managed::{Managed, keep};
use crate::client::Client;
use crate::events::Events;
use crate::turn::stop_session;

/// How long a server of ours has to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// A server in use.
pub(crate) struct Link {
    client: Client,
    events: OnceLock<Events>,
    busy: Arc<Mutex<HashMap<String, usize>>>,
    over: CancellationToken,
    tasks: Tasks,
    /// When it began to run, in milliseconds since 1970; of other people's servers that is not known.
    began: u64,
}

impl Link {
    /// To a server that somebody else runs.
    pub(super) fn to(client: Client, tasks: &Tasks, stop: &CancellationToken) -> Self {
        let link = Self::new(client, tasks, 0);
        let (client, busy, stop) = (link.client.clone(), link.busy.clone(), stop.clone());
        let over = link.over.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = over.cancelled() => {}
                () = stop.cancelled() => leave(&client, &busy).await,
            }
        });
        link
    }

    /// To a server of our own, which ends with us.
    pub(super) fn managed(client: Client, managed: Managed, tasks: &Tasks, stop: &CancellationToken) -> Self {
        let link = Self::new(client, tasks, Clock::system().unix_ms());
        let (over, stop) = (link.over.clone(), stop.clone());
        let Managed { mut running, pipes, log, .. } = managed;
        tasks.spawn(async move {
            tokio::select! {
                () = async { tokio::join!(keep(pipes.stdout, &log), keep(pipes.stderr, &log)); } => {
                    // Both its streams ended: it has ended, or is about to.
                }
                ended = running.wait() => tracing::warn!(?ended, last = log.last(), "OpenCode has ended"),
                () = over.cancelled() => {}
                () = stop.cancelled() => {}
            }
            over.cancel();
            running.end(GRACE).await;
        });
        link
    }

    fn new(client: Client, tasks: &Tasks, began: u64) -> Self {
        Self {
            client,
            events: OnceLock::new(),
            busy: Arc::default(),
            over: CancellationToken::new(),
            tasks: tasks.clone(),
            began,
        }
    }

    /// When it began to run at the earliest, in milliseconds since 1970.
    pub(crate) fn began(&self) -> u64 {
        self.began
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Its events, listened to since they were first asked for.
    pub(crate) fn events(&self) -> &Events {
        self.events.get_or_init(|| Events::listen(self.client.clone(), &self.tasks, self.over.clone()))
    }

    /// Whether it has ended, as far as we can know: of other people's servers we only see that they do not answer.
    pub(crate) fn has_ended(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Completes when it has ended.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// The sessions that work for us.
    pub(crate) fn busy(&self) -> Vec<String> {
        lock(&self.busy).keys().cloned().collect()
    }

    /// Notes that a session works for us.
    pub(crate) fn begin(&self, session: &str) {
        *lock(&self.busy).entry(session.to_owned()).or_default() += 1;
    }

    /// Notes that it does not any more.
    pub(crate) fn end(&self, session: &str) {
        let mut busy = lock(&self.busy);
        if let Some(count) = busy.get_mut(session) {
            *count -= 1;
            if *count == 0 {
                busy.remove(session);
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// Stops what still works for us on a server that stays.
async fn leave(client: &Client, busy: &Mutex<HashMap<String, usize>>) {
    let sessions: Vec<String> = lock(busy).keys().cloned().collect();
    // All at once: there is little time at the end.
    join_all(sessions.iter().map(|session| stop_session(client, session))).await;
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

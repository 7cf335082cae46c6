//! The end of a turn that nobody waits for any more: OpenCode works on until it is told to stop.

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::Result;

use super::queue::Turn;
use crate::client::Client;
use crate::server::Link;

/// How often it is looked whether a session has stopped, and how long.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: usize = 100;

/// Stops a session when it is dropped before the turn is done.
pub(super) struct Guard {
    link: Arc<Link>,
    session: String,
    /// Kept until the session stands still: the next turn must not be stopped in the place of this one.
    turn: Option<Turn>,
    done: bool,
}

impl Guard {
    pub(super) fn new(link: Arc<Link>, session: &str, turn: Turn) -> Self {
        link.begin(session);
        Self { link, session: session.to_owned(), turn: Some(turn), done: false }
    }

    /// The turn came to its end.
    pub(super) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (link, session) = (self.link.clone(), std::mem::take(&mut self.session));
        if self.done || link.is_over() {
            return link.end(&session);
        }
        let turn = self.turn.take();
        let tasks = link.tasks().clone();
        tasks.spawn(async move {
            stop_session(link.client(), &session).await;
            link.end(&session);
            drop(turn);
        });
    }
}

/// Stops a session, and says whether it is seen to stand still.
pub(crate) async fn stop_session(client: &Client, session: &str) -> bool {
    if let Err(error) = client.post(&["session", session, "abort"]).send().await {
        tracing::warn!(%error, session, "a session of OpenCode cannot be stopped");
        return false;
    }
    for _ in 0..LOOKS {
        match is_busy(client, session).await {
            Ok(false) => return true,
            Ok(true) => tokio::time::sleep(LOOK).await,
            Err(error) => {
                tracing::warn!(%error, session, "it cannot be seen whether a session of OpenCode stopped");
                return false;
            }
        }
    }
    tracing::warn!(session, "a session of OpenCode does not stop");
    false
}

/// Whether a session works.
pub(crate) async fn is_busy(client: &Client, session: &str) -> Result<bool> {
    // Its status is kept with its project, and so is asked for there.
    let info = client.get(&["session", session]).send().await?;
    let directory = info["directory"].as_str().unwrap_or_default();
    let all = client.get(&["session", "status"]).within(directory.as_ref()).send().await?;
    Ok(all[session]["type"].as_str().is_some_and(|kind| kind != "idle"))
}

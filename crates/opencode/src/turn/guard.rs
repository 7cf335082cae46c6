//! The end of a turn that nobody waits for any more: OpenCode works on until it is told to stop.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinHandle;
use toolgate_core::{Error, Kind, Result};

use super::queue::Turn;
use crate::client::Client;
use crate::server::Link;

/// How often it is looked whether a session has stopped, and how long.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: usize = 100;

/// How often in a row a session is found idle before it is taken to have stopped: a prompt that has just arrived
/// does not show yet.
const STILL: usize = 3;

/// How often in a row it may fail to be told or looked at.
const FAILURES: usize = 3;

/// Stops a session when it is dropped before the turn is done.
pub(super) struct Guard {
    link: Arc<Link>,
    session: String,
    /// Kept until the session stands still: the next turn must not be stopped in the place of this one.
    turn: Option<Turn>,
    /// The prompt on its way. It goes on without us: what is stopped before it arrives begins all the same.
    sending: Option<JoinHandle<Result<Value>>>,
    done: bool,
}

impl Guard {
    /// Sends a prompt to a session, and guards what comes of it.
    pub(super) fn send(link: Arc<Link>, session: &str, turn: Turn, body: Value) -> Self {
        link.begin(session);
        let (client, id) = (link.client().clone(), session.to_owned());
        let sending = async move { client.post(&["session", &id, "prompt_async"]).json(body).send().await };
        let sending = Some(link.tasks().spawn(sending));
        Self { link, session: session.to_owned(), turn: Some(turn), sending, done: false }
    }

    /// Waits until OpenCode has the prompt.
    pub(super) async fn sent(&mut self) -> Result<()> {
        let Some(sending) = &mut self.sending else { return Ok(()) };
        let answer = sending.await;
        self.sending = None;
        let answer = answer.map_err(|error| {
            Error::new(Kind::Cancelled, "the prompt is not sent any more: we are ending").because(error)
        })?;
        if let Err(error) = &answer {
            // What it refused does not run; what got no answer may.
            self.done = !matches!(error.kind(), Kind::ConnectionFailed | Kind::Timeout);
        }
        answer.map(|_| ())
    }

    /// The turn came to its end.
    pub(super) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (link, session) = (self.link.clone(), std::mem::take(&mut self.session));
        if self.done || link.has_ended() {
            return link.end(&session);
        }
        let (turn, sending) = (self.turn.take(), self.sending.take());
        let tasks = link.tasks().clone();
        tasks.spawn(async move {
            if let Some(sending) = sending {
                drop(sending.await);
            }
            stop_session(link.client(), &session).await;
            link.end(&session);
            drop(turn);
        });
    }
}

/// Stops a session, and says whether it is seen to stand still.
pub(crate) async fn stop_session(client: &Client, session: &str) -> bool {
    let (mut busy, mut still, mut failures) = (true, 0, 0);
    for _ in 0..LOOKS {
        match tell(client, session, busy).await {
            Ok(now) => {
                busy = now;
                still = if busy { 0 } else { still + 1 };
                failures = 0;
            }
            Err(error) if error.kind() == Kind::SessionNotFound => return true,
            Err(error) => {
                failures += 1;
                if failures == FAILURES {
                    tracing::warn!(%error, session, "a session of OpenCode cannot be stopped");
                    return false;
                }
            }
        }
        if still == STILL {
            return true;
        }
        tokio::time::sleep(LOOK).await;
    }
    tracing::warn!(session, "a session of OpenCode does not stop");
    false
}

/// Tells a session to stop, if it has to be told, and says whether it works.
async fn tell(client: &Client, session: &str, has_to: bool) -> Result<bool> {
    if has_to {
        client.post(&["session", session, "abort"]).send().await?;
    }
    is_busy(client, session).await
}

/// Whether a session works.
pub(crate) async fn is_busy(client: &Client, session: &str) -> Result<bool> {
    // Its status is kept with its project, and so is asked for there.
    let info = client.get(&["session", session]).send().await?;
    let directory = info["directory"].as_str().unwrap_or_default();
    let all = client.get(&["session", "status"]).within(directory.as_ref()).send().await?;
    Ok(works(&all[session]))
}

/// Whether this is the status of a session that works.
pub(crate) fn works(status: &Value) -> bool {
    status["type"].as_str().is_some_and(|kind| kind != "idle")
}

//! Questions that wait in the inbox, and calls that wait for the answers.

use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Approvals, TRIES, Waited, body, busy, replace};
use crate::store::{Collection, Write, Written};
use crate::{Approval, ApprovalState, Error, Kind, Result};

/// How many questions of one principal may wait. Who asks with other arguments each time would fill the store, and hide
/// what others ask.
const MOST: usize = 100;

/// How long a change is left to be followed by others. Each may be any question's, so all who wait look after each.
const LULL: Duration = Duration::from_millis(100);

impl Approvals {
    /// Waits for the answer to a question that was put into the inbox.
    pub(crate) async fn wait(&self, asked: &Approval, longest: Duration) -> Result<Waited> {
        // Whoever listens first misses no answer.
        let mut changes = self.inner.store.changes();
        let until = tokio::time::Instant::now() + longest;
        loop {
            match self.redeem(asked).await? {
                Waited::Pending => {}
                answered @ (Waited::Approved(_) | Waited::Rejected { .. }) => return Ok(answered),
            }
            if tokio::time::timeout_at(until, changed(&mut changes)).await.is_err() {
                return Ok(Waited::Pending);
            }
            tokio::time::sleep(LULL).await;
            // What came meanwhile is seen by the same look.
            changes = self.inner.store.changes();
        }
    }

    /// Puts a question into the inbox, unless it is there.
    pub(crate) async fn put(&self, asked: &Approval) -> Result<()> {
        let _turn = self.inner.putting.lock().await;
        for _ in 0..TRIES {
            let write = match self.get(&asked.id).await? {
                Some((document, approval)) if approval.state == ApprovalState::Pending => {
                    if approval.session == asked.session {
                        return Ok(());
                    }
                    // A yes for a connection is for the one that waits, not for one that may be gone.
                    let (session, client) = (asked.session.clone(), asked.client.clone());
                    replace(&document, &Approval { session, client, ..approval })
                }
                // The call ran before; this is another one like it.
                Some((document, approval)) if matches!(approval.state, ApprovalState::Used { .. }) => {
                    self.check_room(&asked.principal).await?;
                    replace(&document, asked)
                }
                Some(_) => return Ok(()),
                None => {
                    self.check_room(&asked.principal).await?;
                    Write::Insert {
                        collection: Collection::Approvals,
                        id: asked.id.clone(),
                        body: body(asked),
                        expires_ms: Some(asked.expires_ms),
                    }
                }
            };
            if self.inner.store.write(vec![write]).await? == Written::Done {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// Fails where as many questions of a principal wait as may.
    async fn check_room(&self, principal: &str) -> Result<()> {
        let waits = |asked: &&Approval| asked.principal == principal && asked.state == ApprovalState::Pending;
        if self.list().await?.iter().filter(waits).count() < MOST {
            return Ok(());
        }
        Err(Error::new(Kind::NeedsApproval, "too many of your calls wait for an answer")
            .hint("have someone answer them: `toolgate approvals list` shows them"))
    }
}

/// Waits until any question may have changed.
async fn changed(changes: &mut Receiver<Collection>) {
    loop {
        match changes.recv().await {
            Ok(Collection::Approvals) | Err(RecvError::Lagged(_)) => return,
            Ok(_) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

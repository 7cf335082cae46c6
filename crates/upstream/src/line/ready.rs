//! Waiting for a connection that a call can use.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Line, Phase, over};
use crate::fault::Fault;
use crate::link::Link;

/// How long a call waits for an attempt that it brings about.
const PATIENCE: Duration = Duration::from_secs(1);

impl Line {
    /// The connection once it is ready. A line that failed tries again when a call comes, but the call waits only
    /// `patience` beyond what an attempt takes anyway.
    pub(crate) async fn ready(&self, patience: Duration) -> Result<Arc<Link>, Fault> {
        match self.link() {
            Some(link) => Ok(link),
            None => Box::pin(self.ready_again(patience)).await,
        }
    }

    async fn ready_again(&self, patience: Duration) -> Result<Arc<Link>, Fault> {
        let mut phase = self.phase.subscribe();
        let until = Instant::now() + patience.max(PATIENCE);
        let mut kicked = false;
        loop {
            let now = phase.borrow_and_update().clone();
            match now {
                Phase::Ready(link) if link.wire.desk.is_open() => return Ok(link),
                Phase::Ready(_) | Phase::Connecting => {
                    if phase.changed().await.is_err() {
                        return Err(over());
                    }
                }
                Phase::Failed(fault) => {
                    let last = kicked && patience <= PATIENCE;
                    self.kick.notify_one();
                    kicked = true;
                    let changed = timeout_at(until, phase.changed()).await;
                    if last || !matches!(changed, Ok(Ok(()))) {
                        return Err(fault);
                    }
                }
                Phase::Over => return Err(over()),
            }
        }
    }
}

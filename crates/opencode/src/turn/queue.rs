//! One turn at a time in a session: OpenCode answers two at once with the same reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

type Turns = Arc<tokio::sync::Mutex<()>>;

/// The sessions in which a turn runs or waits.
#[derive(Clone, Default)]
pub(crate) struct Queues(Arc<Mutex<HashMap<String, Turns>>>);

/// The right to run a turn in a session.
pub(crate) struct Turn {
    queues: Queues,
    session: String,
    held: Option<OwnedMutexGuard<()>>,
}

impl Queues {
    /// Waits for the turns before this one.
    pub(crate) async fn wait(&self, session: &str) -> Turn {
        let turns = self.lock().entry(session.to_owned()).or_default().clone();
        let mut turn = Turn { queues: self.clone(), session: session.to_owned(), held: None };
        turn.held = Some(turns.lock_owned().await);
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Turns>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut all = self.queues.lock();
        // Only the list itself holds it: nobody runs or waits there.
        if all.get(&self.session).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            all.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn turns_of_a_session_follow_each_other_and_leave_nothing() {
        let queues = Queues::default();
        let first = queues.wait("a").await;
        let other = queues.wait("b").await;
        let mut second = std::pin::pin!(queues.wait("a"));
        tokio::select! {
            biased;
            _ = &mut second => panic!("two turns at once"),
            () = tokio::task::yield_now() => {}
        }
        drop((first, other));
        drop(second.await);
        assert!(queues.lock().is_empty());
    }
}

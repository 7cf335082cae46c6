//! A call that whoever waits for it carries, up to the first thing that it says.

use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use tokio::runtime::Handle;

use super::{Event, Run, RunHandle};
use crate::Outcome;
use crate::presence::Underway;

/// The way of a call through the pipeline.
pub(crate) type Passing = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A call that its caller carries.
pub(super) struct Carried {
    passing: Passing,
    handle: RunHandle,
    underway: Underway,
}

impl Carried {
    /// Goes on with it as a task of the hub.
    fn hand_over(self) {
        let Self { passing, handle, underway } = self;
        let hub = handle.shared.hub.clone();
        hub.owner.spawn(async move {
            let _underway = underway;
            let outcome = passing.await;
            handle.done(outcome).await;
        });
    }
}

impl Run {
    /// Has the caller carry this call, until it says something or is handed over.
    pub(crate) fn carries(&mut self, passing: Passing, handle: RunHandle, underway: Underway) {
        self.carried = Some(Carried { passing, handle, underway });
    }

    /// Gives a call that its caller carried to the hub: from here on it gets on whether or not anybody waits for it.
    pub fn hand_over(&mut self) {
        // Where the runtime has ended, nothing gets on any more.
        if let Some(carried) = self.carried.take()
            && Handle::try_current().is_ok()
        {
            carried.hand_over();
        }
    }

    /// Carries the call on until it ends or says something, which is returned.
    pub(super) async fn carry(&mut self) -> Option<Event> {
        let Self { carried, events, .. } = self;
        let passing = &mut carried.as_mut()?.passing;
        let said = poll_fn(|context| match passing.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Err(outcome)),
            Poll::Pending => events.poll_recv(context).map(Ok),
        });
        match (said.await, self.shared.detached.load(Ordering::Acquire)) {
            (Err(outcome), false) => {
                self.finished = Some(outcome);
                self.carried = None;
                None
            }
            (Err(outcome), true) => {
                // Whoever asks for the task gets it.
                if let Some(carried) = &mut self.carried {
                    carried.passing = Box::pin(ready(outcome));
                }
                self.hand_over();
                None
            }
            (Ok(event), _) => {
                // Who is told something does other things before it comes back for more.
                self.hand_over();
                event.map(|event| *event)
            }
        }
    }
}

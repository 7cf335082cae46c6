//! A call that whoever waits for it carries, up to the first thing that it says.

use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;

use super::{Event, Run, RunHandle};
use crate::Outcome;
use crate::presence::Underway;

/// The way of a call through the pipeline.
type Passing = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A call that its caller carries.
pub(super) struct Carried {
    passing: Passing,
    handle: RunHandle,
    /// Makes it known as under way, once it turns out that it has to wait.
    underway: Option<Underway>,
}

impl Carried {
    /// Gets on with it as far as that goes without waiting.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = self.passing.as_mut().poll(context);
        if outcome.is_pending() && self.underway.is_none() {
            self.underway = Some(self.note());
        }
        outcome
    }

    fn note(&self) -> Underway {
        self.handle.shared.hub.presence.begin(self.handle.shared.clone())
    }

    /// Goes on with it as a task of the hub.
    fn hand_over(mut self) {
        let underway = self.underway.take().unwrap_or_else(|| self.note());
        let Self { passing, handle, .. } = self;
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
    pub(crate) fn carries(
        &mut self,
        passing: impl Future<Output = Outcome> + Send + 'static,
        handle: RunHandle,
    ) {
        self.carried = Some(Carried { passing: Box::pin(passing), handle, underway: None });
    }

    /// Begins a call that its caller carries: one that need not wait ends right here.
    pub(crate) fn begin(&mut self) {
        let Some(carried) = &mut self.carried else { return };
        if let Poll::Ready(outcome) = carried.poll(&mut Context::from_waker(Waker::noop())) {
            self.ended(outcome);
        }
    }

    /// The call that its caller carried has ended.
    fn ended(&mut self, outcome: Outcome) {
        if !self.shared.detached.load(Ordering::Acquire) {
            self.finished = Some(outcome);
            self.wakes_nobody();
            self.carried = None;
            return;
        }
        // Whoever asks for the task gets it.
        if let Some(carried) = &mut self.carried {
            carried.passing = Box::pin(ready(outcome));
        }
        self.hand_over();
    }

    /// Whoever waits for what the call says is the one that has just seen it end. That the other end of the channel goes
    /// would wake them once more, and with them another thread to see whether it can help.
    fn wakes_nobody(&mut self) {
        if let Poll::Ready(event) = self.events.poll_recv(&mut Context::from_waker(Waker::noop())) {
            self.received = event;
        }
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
        let carried = carried.as_mut()?;
        let said = poll_fn(|context| match carried.poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Err(outcome)),
            Poll::Pending => events.poll_recv(context).map(Ok),
        });
        match said.await {
            Err(outcome) => {
                self.ended(outcome);
                None
            }
            Ok(queued) => {
                // Who is told something does other things before it comes back for more.
                self.hand_over();
                queued.map(|queued| queued.event)
            }
        }
    }
}

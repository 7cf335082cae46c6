//! Alarms for what is nearly always over before they ring: cheap to set and to take back, and a little late.
//!
//! A timer of the runtime has its price with every call: a place in the wheel of all timers, and where it is due before
//! all others, the thread that sleeps until then is woken to be told so. Here one task looks at all alarms ten times a
//! second, as long as there are any.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use slab::Slab;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// How long it takes at most until alarms are looked at again, while there are any.
const LOOK: Duration = Duration::from_millis(100);

/// Alarms, and the task that looks at them. Dropping them ends it.
#[derive(Debug, Default)]
pub struct Alarms(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    set: Slab<Set>,
    /// Whether any was set since the last look.
    fresh: bool,
    /// When they are looked at next.
    next: Option<Instant>,
    looking: Option<JoinHandle<()>>,
}

/// An alarm that somebody waits for.
#[derive(Debug)]
struct Set {
    due: Instant,
    /// None once it has rung.
    waker: Option<Waker>,
}

/// Completes when it is due, or a little later.
#[derive(Debug)]
pub struct Alarm<'a> {
    alarms: &'a Alarms,
    due: Instant,
    key: Option<usize>,
}

impl Alarms {
    /// No alarms yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that rings then, up to a tenth of a second late.
    pub fn at(&self, due: Instant) -> Alarm<'_> {
        Alarm { alarms: self, due, key: None }
    }

    /// What a future gives, unless that takes longer than this.
    pub async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        let (mut future, mut alarm) = (pin!(future), pin!(self.at(Instant::now() + limit)));
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => alarm.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    fn set(&self, due: Instant, waker: Waker) -> usize {
        let mut state = lock(&self.0);
        let key = state.set.insert(Set { due, waker: Some(waker) });
        state.fresh = true;
        let in_time = state.next.is_some_and(|next| next <= due || next <= Instant::now() + LOOK);
        if !in_time || state.looking.as_ref().is_none_or(JoinHandle::is_finished) {
            // One that looks too late is of no use any more.
            state.looking.take().inspect(JoinHandle::abort);
            state.next = Some(due.min(Instant::now() + LOOK));
            #[expect(clippy::disallowed_methods, reason = "the alarms own it, and end it")]
            let looking = tokio::spawn(look(self.0.clone()));
            state.looking = Some(looking);
        }
        key
    }
}

impl Drop for Alarms {
    fn drop(&mut self) {
        lock(&self.0).looking.take().inspect(JoinHandle::abort);
    }
}

impl State {
    /// Finds out whom to wake, and when to look again.
    fn ring(&mut self, now: Instant) -> Vec<Waker> {
        let mut rung = Vec::new();
        let soon = std::mem::take(&mut self.fresh).then(|| now + LOOK);
        self.next = soon;
        for (_, set) in &mut self.set {
            if set.due <= now {
                rung.extend(set.waker.take());
            } else {
                self.next = Some(self.next.map_or(set.due, |next| next.min(set.due)));
            }
        }
        rung
    }
}

/// Looks at the alarms until there are none, and none were set for a while.
async fn look(state: Arc<Mutex<State>>) {
    loop {
        let Some(next) = lock(&state).next else { return };
        sleep_until(next).await;
        let rung = lock(&state).ring(Instant::now());
        rung.into_iter().for_each(Waker::wake);
    }
}

impl Future for Alarm<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(key) = self.key else {
            if self.due <= Instant::now() {
                return Poll::Ready(());
            }
            self.key = Some(self.alarms.set(self.due, context.waker().clone()));
            return Poll::Pending;
        };
        match &mut lock(&self.alarms.0).set[key].waker {
            None => Poll::Ready(()),
            Some(waker) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        let set = self.key.map(|key| lock(&self.alarms.0).set.remove(key));
        // Its waker may be the last that holds a task, so not under the lock.
        drop(set);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// How late an alarm that is due after so many milliseconds rings.
    async fn lateness(alarms: &Alarms, after: u64) -> Duration {
        let due = Instant::now() + ms(after);
        alarms.at(due).await;
        Instant::now().checked_duration_since(due).expect("it rang early")
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_when_it_is_due_or_a_little_later() {
        let alarms = Alarms::new();
        for after in [0, 1, 50, 100, 101, 250, 30_000, 3_600_000] {
            let late = lateness(&alarms, after).await;
            assert!(late <= LOOK, "{after}: {late:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_due_before_all_others_is_not_kept_waiting_by_them() {
        let alarms = Alarms::new();
        let long = async {
            alarms.at(Instant::now() + ms(60_000)).await;
            "long"
        };
        let short = async {
            // By now nobody would look again before the long one.
            tokio::time::sleep(ms(10_000)).await;
            assert!(lateness(&alarms, 200).await <= LOOK);
            "short"
        };
        let first = tokio::select! { first = long => first, first = short => first };
        assert_eq!(first, "short");
    }

    #[tokio::test(start_paused = true)]
    async fn many_at_once_ring_each_in_its_time_and_those_taken_back_do_not() {
        let alarms = Arc::new(Alarms::new());
        let mut waiting = tokio::task::JoinSet::new();
        for after in (0..1_000).rev() {
            let alarms = alarms.clone();
            waiting.spawn(async move {
                let gone = alarms.within(ms(after), std::future::pending::<()>()).await;
                gone.is_none() && lateness(&alarms, after).await <= LOOK
            });
        }
        assert!(waiting.join_all().await.into_iter().all(|fine| fine));
        assert!(lock(&alarms.0).set.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_ends_in_time_is_given_and_its_alarm_taken_back() {
        let alarms = Alarms::new();
        let soon = async {
            tokio::time::sleep(ms(10)).await;
            7
        };
        assert_eq!(alarms.within(ms(200), soon).await, Some(7));
        assert_eq!(alarms.within(ms(200), async { 8 }).await, Some(8));
        assert!(lock(&alarms.0).set.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_looks_where_there_has_been_nothing_to_look_at_for_a_while() {
        let alarms = Alarms::new();
        assert_eq!(alarms.within(ms(500), tokio::task::yield_now()).await, Some(()));
        tokio::time::sleep(ms(1_000)).await;
        let ended = |alarms: &Alarms| lock(&alarms.0).looking.as_ref().is_some_and(JoinHandle::is_finished);
        assert!(ended(&alarms));
        assert!(lateness(&alarms, 200).await <= LOOK, "it begins anew");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_last_is_woken() {
        let alarms = Alarms::new();
        let mut alarm = pin!(alarms.at(Instant::now() + ms(200)));
        assert!(alarm.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        alarm.await;
    }

    #[test]
    fn alarms_outlive_the_runtime_that_looked_at_them() {
        let alarms = Alarms::new();
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            assert!(runtime.block_on(lateness(&alarms, 200)) <= LOOK);
        }
    }
}

//! One supervised connection: opened when wanted, opened again when lost, closed when idle.

mod attend;
mod jitter;
mod listen;
mod ready;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgate_core::ConnectionId;
use toolgate_wire::Era;

use crate::config::Start;
use crate::fault::Fault;
use crate::link::Link;
use crate::oauth::{Bearer, Holder};
use crate::open::{Opener, open};
use crate::plan::Reach;
use crate::pool::{Key, Who};
use crate::starts::Turn;
use crate::supervisor::{Pace, Shared};
use jitter::jittered;

/// The shortest and the longest wait between two attempts.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(60);

/// A connection that lived this long was a good one.
const GOOD: Duration = Duration::from_secs(5);

/// How long a connection without calls is kept: one that served callers, and one that only learned.
const IDLE: Duration = Duration::from_secs(600);
const LEARNED: Duration = Duration::from_secs(10);

/// How a line stands.
#[derive(Clone)]
pub(crate) enum Phase {
    Connecting,
    Ready(Arc<Link>),
    Failed(Fault),
    /// It is over; another line takes its place.
    Over,
}

/// One supervised connection.
pub(crate) struct Line {
    pub(crate) key: Key,
    phase: watch::Sender<Phase>,
    kick: Notify,
    stop: CancellationToken,
    restart: Notify,
    owner: Mutex<Option<Who>>,
    used: Mutex<Instant>,
    has_served: AtomicBool,
    /// How many calls are under way, also those that wait for it to be opened or follow a task.
    serving: AtomicUsize,
    /// Whether it is being looked at what its server has.
    learning: AtomicBool,
    /// Wakes it when a caller uses it for the first time.
    wanted: Notify,
    failures: AtomicU32,
    /// Why the last attempt failed, until one succeeds.
    fault: Mutex<Option<Fault>>,
    /// Has it looked at again what is watched through it.
    pub(crate) rewatch: Notify,
    /// How soon is followed what its server says of its lists.
    pace: Mutex<Pace>,
}

/// A call that is under way by a line.
pub(crate) struct Serving<'a>(&'a Line);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.serving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a connection is given up.
enum End {
    Lost(String),
    Idle,
    Restart,
    Stop,
}

impl Line {
    /// A line that begins to connect.
    pub(crate) fn start(key: Key, shared: &Arc<Shared>) -> Arc<Self> {
        let line = Arc::new(Self {
            key,
            phase: watch::channel(Phase::Connecting).0,
            kick: Notify::new(),
            stop: shared.over.child_token(),
            restart: Notify::new(),
            owner: Mutex::default(),
            used: Mutex::new(Instant::now()),
            has_served: AtomicBool::new(false),
            serving: AtomicUsize::new(0),
            learning: AtomicBool::new(false),
            wanted: Notify::new(),
            failures: AtomicU32::new(0),
            fault: Mutex::default(),
            rewatch: Notify::new(),
            pace: Mutex::default(),
        });
        let (running, shared) = (line.clone(), shared.clone());
        shared.owner.clone().spawn(async move {
            running.run(&shared).await;
            running.phase.send_replace(Phase::Over);
            shared.pool.forget(&running);
            shared.woken.notify_one();
        });
        line
    }

    /// What is wrong with it, if anything; one that tries again after it failed is not well yet.
    pub(crate) fn wrong(&self) -> Option<Fault> {
        lock(&self.fault).clone()
    }

    /// How it stands, to be watched.
    pub(crate) fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// The connection, if it is ready now.
    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        match &*self.phase.borrow() {
            Phase::Ready(link) if link.wire.desk.is_open() => Some(link.clone()),
            Phase::Ready(_) | Phase::Connecting | Phase::Failed(_) | Phase::Over => None,
        }
    }

    /// Takes it for one owner, unless another has it.
    pub(crate) fn claim(&self, who: &Who) -> bool {
        let mut owner = lock(&self.owner);
        *owner.get_or_insert_with(|| who.clone()) == *who
    }

    /// Whether it takes nothing new.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(crate) fn is_claimed(&self) -> bool {
        lock(&self.owner).is_some()
    }

    pub(crate) fn is_claimed_by(&self, who: &Who) -> bool {
        lock(&self.owner).as_ref() == Some(who)
    }

    /// Whether its server shows on it what it shows to all: nobody else's grant lets it in.
    pub(crate) fn is_shared(&self, shared: &Shared) -> bool {
        let authorizer = shared.plan.authorizer.as_ref();
        authorizer.is_none_or(|authorizer| self.key.holder(authorizer) == Holder::Shared)
    }

    /// Notes that it is being looked at what its server has, or is no longer.
    pub(crate) fn learns(&self, on: bool) {
        self.learning.store(on, Ordering::Relaxed);
    }

    /// How soon is followed what its server says of its lists.
    pub(crate) fn pace(&self) -> MutexGuard<'_, Pace> {
        lock(&self.pace)
    }

    /// Notes that a caller uses it.
    pub(crate) fn serves(&self) {
        *lock(&self.used) = Instant::now();
        self.has_served.store(true, Ordering::Relaxed);
        self.wanted.notify_one();
    }

    /// Counts a call for as long as it is under way.
    pub(crate) fn serving(&self) -> Serving<'_> {
        self.serving.fetch_add(1, Ordering::Relaxed);
        Serving(self)
    }

    /// Whether a call is under way.
    pub(crate) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Relaxed) > 0
    }

    /// A client's connection has ended, and so does its own line.
    pub(crate) fn left(&self, connection: ConnectionId) {
        let is_of = |who: &Who| matches!(who, Who::Session(_, whose) if *whose == connection);
        let is_its = is_of(&self.key.who) || lock(&self.owner).as_ref().is_some_and(is_of);
        // What still runs for it, as a task may, is waited for until the line is idle.
        if is_its && !self.is_serving() {
            self.stop();
        }
        if let Some(link) = self.link() {
            link.wire.desk.left(connection);
        }
    }

    /// Ends it for good.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Connects anew.
    pub(crate) fn restart(&self) {
        self.restart.notify_one();
    }

    async fn run(&self, shared: &Arc<Shared>) {
        loop {
            let attempt = Instant::now();
            // Boxed, so that its room is given back when the connection is open.
            let opened = self.stop.run_until_cancelled(Box::pin(self.open(shared))).await;
            let end = match opened {
                None => return,
                Some(Ok(link)) => self.serve(link, shared).await,
                Some(Err(fault)) => {
                    shared.doubts_era(&fault);
                    if self.failed(fault, attempt, shared).await {
                        continue;
                    }
                    return;
                }
            };
            match end {
                End::Lost(why) => {
                    shared.lost(&why);
                    if attempt.elapsed() > GOOD {
                        self.failures.store(0, Ordering::Relaxed);
                    }
                    // The first time it is tried again at once.
                    if self.failures.fetch_add(1, Ordering::Relaxed) > 0 && !self.wait(Fault::Gone(why)).await
                    {
                        return;
                    }
                    self.phase.send_replace(Phase::Connecting);
                }
                End::Restart => {
                    self.phase.send_replace(Phase::Connecting);
                }
                End::Idle | End::Stop => return,
            }
        }
    }

    async fn open(&self, shared: &Arc<Shared>) -> Result<Arc<Link>, Fault> {
        let _one_of_few = shared.opens.acquire().await;
        let opener = Opener {
            plan: &shared.plan,
            variables: &shared.variables,
            client: &shared.client,
            bearer: self.bearer(shared),
            declared: self.key.declared,
            known: shared.trusted_era(),
            spoke: shared.known_era(),
            reports: &shared.reports,
            owner: &shared.owner,
        };
        match self.turn(shared).await {
            Some(turn) => shared.starts.within(turn, open(&opener)).await,
            None => open(&opener).await,
        }
    }

    /// Waits until its program may start, unless there is none, or a caller waits for it.
    async fn turn<'a>(&self, shared: &'a Shared) -> Option<Turn<'a>> {
        if matches!(shared.plan.reach, Reach::Address(_)) || self.has_served.load(Ordering::Relaxed) {
            return None;
        }
        tokio::select! {
            biased;
            turn = shared.starts.turn() => Some(turn),
            () = self.wanted.notified() => None,
        }
    }

    /// What lets its requests in.
    pub(crate) fn bearer(&self, shared: &Shared) -> Option<Bearer> {
        let authorizer = shared.plan.authorizer.as_ref()?;
        Some(authorizer.bearer(self.key.holder(authorizer)))
    }

    /// Tries again at once, if it failed because we were not let in.
    pub(crate) fn let_in(&self) {
        if matches!(&*self.phase.borrow(), Phase::Failed(Fault::Unauthorized(_) | Fault::Scope(_))) {
            self.failures.store(0, Ordering::Relaxed);
            self.kick.notify_one();
        }
    }

    /// Serves callers until the connection ends.
    async fn serve(&self, link: Arc<Link>, shared: &Arc<Shared>) -> End {
        shared.connected(&link);
        *lock(&self.fault) = None;
        self.phase.send_replace(Phase::Ready(link.clone()));
        if !self.has_served.load(Ordering::Relaxed) {
            // However long it took to start, there is time to learn by it.
            *lock(&self.used) = Instant::now();
        }
        if self.is_shared(shared) {
            // What it has may not be what is remembered.
            self.learns(true);
            link.wire.desk.all_changed();
        }
        shared.woken.notify_one();
        let end = tokio::select! {
            why = link.wire.desk.ended() => End::Lost(why),
            () = self.idle(&link, shared) => End::Idle,
            never = attend::attend(self, &link, shared) => match never {},
            () = self.restart.notified() => End::Restart,
            () = self.stop.cancelled() => End::Stop,
        };
        if matches!(end, End::Idle) {
            // Who comes now gets another line.
            self.stop.cancel();
        }
        if matches!(end, End::Lost(_)) {
            // What is left of it must not keep the next one waiting.
            let drained = shared.plan.timeout;
            shared.owner.spawn(async move {
                drop(tokio::time::timeout(drained, link.wire.desk.drained()).await);
                link.wire.close().await;
            });
        } else {
            link.wire.close().await;
        }
        end
    }

    /// Tells of a failed attempt, and waits for the next. False if nobody wants another.
    async fn failed(&self, fault: Fault, attempt: Instant, shared: &Shared) -> bool {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed);
        let is_wanted = lock(&self.used).elapsed() < IDLE || !shared.wanted_by(self).is_empty();
        if failures > 10 && !is_wanted && self.key != Key::bare() {
            return false;
        }
        let went_on = self.wait(fault).await;
        // A caller's wish does not make attempts come faster than this.
        tokio::time::sleep_until(attempt + SHORTEST).await;
        self.phase.send_replace(Phase::Connecting);
        went_on
    }

    /// Waits for the next attempt: the longer, the more have failed, and not in step with others.
    async fn wait(&self, fault: Fault) -> bool {
        *lock(&self.fault) = Some(fault.clone());
        self.phase.send_replace(Phase::Failed(fault));
        let failures = self.failures.load(Ordering::Relaxed).saturating_sub(1).min(16);
        let wait = SHORTEST.saturating_mul(1 << failures).min(LONGEST);
        tokio::select! {
            () = tokio::time::sleep(jittered(wait)) => true,
            () = self.kick.notified() => true,
            () = self.restart.notified() => true,
            () = self.stop.cancelled() => false,
        }
    }

    /// Completes when nobody has used it for long.
    async fn idle(&self, link: &Link, shared: &Shared) {
        // Opened while it was not known that the server is modern: since then its callers go by another line.
        let is_needless = link.era() == Era::Modern && !self.key.is_modern(!self.is_shared(shared));
        if shared.plan.start == Start::Eager && !is_needless {
            return std::future::pending().await;
        }
        loop {
            let is_kept = self.has_served.load(Ordering::Relaxed) && !is_needless;
            let limit = if is_kept { IDLE } else { LEARNED };
            let used = *lock(&self.used);
            tokio::time::sleep_until(used + limit).await;
            let is_used =
                *lock(&self.used) != used || self.is_serving() || !shared.wanted_by(self).is_empty();
            let is_learning = self.learning.load(Ordering::Relaxed)
                || (self.key == Key::bare() && (!shared.has_looked() || shared.waits_for_list()));
            if !is_used && !is_learning {
                return;
            }
            if self.is_serving() {
                *lock(&self.used) = Instant::now();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn over() -> Fault {
    Fault::NotSent("it is being stopped".into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

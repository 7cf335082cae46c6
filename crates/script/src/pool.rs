//! Children that stand ready: each serves one principal, and none that anything went wrong with.

mod place;
mod wall;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolgate_core::{Error, Kind, PrincipalId, Result};
use toolgate_host::{Program, Tasks};

use crate::child;
use crate::talk::Order;

use place::{Place, Places};
pub(crate) use wall::{Over, Wall};
use worker::Fault;
use worker::Worker;
pub(crate) use worker::{Answering, Ended};

/// How many scripts run at once for one principal, or wait for a person.
const RUNNING_EACH: usize = 4;

/// How many children wait for a principal to come back, and how long.
const WARM: usize = 8;
const WARM_EACH: usize = 2;
const WARM_TIME: Duration = Duration::from_secs(120);

/// After so many scripts, or so much processor time, a child has served.
const MOST_RUNS: u32 = 200;
const MOST_CPU: Duration = Duration::from_secs(2);

/// What a child may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildLimits {
    /// How many bytes of memory.
    pub(crate) memory: u64,
    /// How long a script may take.
    pub(crate) time: Duration,
}

/// How a child is started.
#[derive(Debug, Clone)]
pub struct ChildProgram {
    /// The program.
    pub path: PathBuf,
    /// What its arguments begin with.
    pub arguments: Vec<String>,
}

/// Children that stand ready. Clones are the same pool.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    program: Program,
    limits: ChildLimits,
    tasks: Tasks,
    places: Places,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// One that has served nobody yet.
    fresh: Option<Worker>,
    /// Whether one is being made.
    making: bool,
    /// Whether someone looks after those that wait.
    sweeping: bool,
    warm: Vec<Warm>,
    places: HashMap<PrincipalId, Weak<Semaphore>>,
}

struct Warm {
    principal: PrincipalId,
    worker: Worker,
    since: Instant,
}

impl Pool {
    pub(crate) fn new(program: &ChildProgram, limits: ChildLimits, tasks: Tasks) -> Self {
        // The parent ends what takes too long; should it be unable to, the kernel does.
        let cpu = limits.time + MOST_CPU + Duration::from_secs(2);
        let program = Program::new(&program.path)
            .arguments(&program.arguments)
            .arguments(child::arguments(limits.memory, cpu))
            // One heap for all threads: each other would reserve more than the memory limit.
            .variable("MALLOC_ARENA_MAX", "1");
        Self(Arc::new(Inner { program, limits, tasks, places: Places::new(), state: Mutex::default() }))
    }

    /// Runs a script for a principal, and has what it asks for answered.
    pub(crate) async fn run(
        &self,
        principal: &PrincipalId,
        order: &Order,
        answering: &impl Answering,
    ) -> Result<Ended> {
        let entered = tokio::time::timeout(self.0.limits.time, self.enter(principal)).await;
        let place = entered.map_err(|_| {
            Error::new(Kind::RateLimited, "too many scripts run already").hint("wait until one has ended")
        })?;
        let mut worker = match self.warm_worker(principal) {
            Some(worker) => worker,
            None => self.fresh_worker().await?,
        };
        let mut wall = Wall::of(self.0.limits.time, place);
        let mut ended = worker.run(order, answering, &mut wall).await;
        if matches!(ended, Err(Fault::Gone)) {
            // It ended while it waited, before it had any work.
            worker = self.fresh_worker().await?;
            ended = worker.run(order, answering, &mut wall).await;
        }
        match ended {
            Ok(ended) => {
                if matches!(ended, Ended::Done(_)) && worker.runs() < MOST_RUNS && worker.cpu() < MOST_CPU {
                    self.keep(principal.clone(), worker);
                }
                Ok(ended)
            }
            Err(fault) => Err(fault.told(self.0.limits, &mut worker).await),
        }
    }

    async fn enter(&self, principal: &PrincipalId) -> Place {
        let own = {
            let mut state = self.state();
            state.places.retain(|_, places| places.strong_count() > 0);
            let known = state.places.get(principal).and_then(Weak::upgrade);
            let own = known.unwrap_or_else(|| Arc::new(Semaphore::new(RUNNING_EACH)));
            state.places.insert(principal.clone(), Arc::downgrade(&own));
            own
        };
        // Nobody closes them.
        self.0.places.enter(own.acquire_owned().await.ok()).await
    }

    fn warm_worker(&self, principal: &PrincipalId) -> Option<Worker> {
        let mut state = self.state();
        let place = state.warm.iter().rposition(|warm| warm.principal == *principal)?;
        Some(state.warm.remove(place).worker)
    }

    /// A child that has served nobody; the next is made meanwhile.
    async fn fresh_worker(&self) -> Result<Worker> {
        let ready = self.state().fresh.take();
        self.make_ready();
        match ready {
            Some(worker) => Ok(worker),
            None => Worker::start(&self.0.program).await.map_err(unready),
        }
    }

    /// Makes a child beforehand, so that nobody waits for it.
    pub(crate) fn make_ready(&self) {
        let mut state = self.state();
        if state.making || state.fresh.is_some() {
            return;
        }
        state.making = true;
        drop(state);
        let (weak, program) = (Arc::downgrade(&self.0), self.0.program.clone());
        let stopping = self.0.tasks.stopping();
        self.0.tasks.spawn(stopping.run_until_cancelled_owned(async move {
            let made = Worker::start(&program).await;
            let Some(inner) = weak.upgrade() else { return };
            let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.making = false;
            match made {
                Ok(worker) => state.fresh = Some(worker),
                Err(error) => tracing::warn!(%error, "no child for scripts could be made beforehand"),
            }
        }));
    }

    fn keep(&self, principal: PrincipalId, worker: Worker) {
        let mut state = self.state();
        let mut gone = Vec::new();
        let own = |warm: &Warm| warm.principal == principal;
        if state.warm.iter().filter(|warm| own(warm)).count() >= WARM_EACH
            && let Some(oldest) = state.warm.iter().position(own)
        {
            gone.push(state.warm.remove(oldest));
        }
        state.warm.push(Warm { principal, worker, since: Instant::now() });
        if state.warm.len() > WARM {
            gone.push(state.warm.remove(0));
        }
        let is_swept = std::mem::replace(&mut state.sweeping, true);
        drop(state);
        if is_swept {
            return;
        }
        let weak = Arc::downgrade(&self.0);
        let stopping = self.0.tasks.stopping();
        self.0.tasks.spawn(stopping.run_until_cancelled_owned(async move {
            let mut next = Instant::now() + WARM_TIME;
            loop {
                tokio::time::sleep_until(next).await;
                let later = weak.upgrade().and_then(|inner| Self(inner).let_go());
                let Some(later) = later else { return };
                next = later;
            }
        }));
    }

    /// Ends those that have waited long enough. Says when the next of them will have, if any wait.
    fn let_go(&self) -> Option<Instant> {
        let mut state = self.state();
        let (kept, gone): (Vec<Warm>, Vec<Warm>) =
            state.warm.drain(..).partition(|warm| warm.since.elapsed() < WARM_TIME);
        state.warm = kept;
        let next = state.warm.iter().map(|warm| warm.since + WARM_TIME).min();
        state.sweeping = next.is_some();
        drop(state);
        drop(gone);
        next
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unready(error: std::io::Error) -> Error {
    Error::new(Kind::Internal, "no child for scripts could be started")
        .hint("`toolgate doctor` tells what is missing")
        .because(error)
}

//! Putting a hub together.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::broadcast;
use toolgate_host::{Alarms, Clock, Tasks};

use super::{AskTrouble, Hub, Inner, ServerInfo};
use crate::catalogs::Catalogs;
use crate::consents::Consents;
use crate::filter::Filters;
use crate::parking::Parking;
use crate::results::Results;
use crate::seal::Sealer;
use crate::search::SearchTools;
use crate::sources::{Sources, watch_updates};
use crate::task::TaskTable;
use crate::{
    Approvals, Filter, Gate, Limiter, Metrics, Reading, Recorder, Result, Settings, SharedStore, Source,
    Tracer,
};

/// How many changes a slow listener may be behind before it is told that anything may have changed.
const CHANGES: usize = 256;

/// How often runs and tasks whose time is over are let go.
const SWEEP: Duration = Duration::from_secs(10);

/// Puts a hub together.
pub struct HubBuilder {
    info: ServerInfo,
    owner: Tasks,
    sources: Vec<Arc<dyn Source>>,
    gates: Vec<Box<dyn Gate>>,
    filters: Vec<Box<dyn Filter>>,
    settings: Settings,
    clock: Clock,
    profiles: Vec<Arc<str>>,
    limiter: Option<Arc<dyn Limiter>>,
    recorder: Option<Arc<dyn Recorder>>,
    approvals: Option<Approvals>,
    asked_for_trouble: Vec<(&'static str, AskTrouble)>,
    tracer: Option<Arc<dyn Tracer>>,
    results: Option<SharedStore>,
    metrics: Metrics,
}

impl HubBuilder {
    pub(super) fn new(info: ServerInfo, owner: Tasks) -> Self {
        Self {
            info,
            owner,
            sources: Vec::new(),
            gates: Vec::new(),
            filters: Vec::new(),
            settings: Settings::default(),
            clock: Clock::system(),
            profiles: Vec::new(),
            limiter: None,
            recorder: None,
            approvals: None,
            asked_for_trouble: Vec::new(),
            tracer: None,
            results: None,
            metrics: Metrics::new(),
        }
    }

    /// Adds a source behind those already there; lists keep this order.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn Source>) -> Self {
        self.sources.push(source);
        self
    }

    /// Adds a gate behind those already there.
    #[must_use]
    pub fn gate(mut self, gate: Box<dyn Gate>) -> Self {
        self.gates.push(gate);
        self
    }

    /// Adds a filter behind those already there.
    #[must_use]
    pub fn filter(mut self, filter: Box<dyn Filter>) -> Self {
        self.filters.push(filter);
        self
    }

    /// Adds a named view of the catalog, for clients to come in by.
    #[must_use]
    pub fn profile(mut self, name: impl Into<Arc<str>>) -> Self {
        self.profiles.push(name.into());
        self
    }

    /// Sets who says how often, and how many at once.
    #[must_use]
    pub fn limiter(mut self, limiter: Arc<dyn Limiter>) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sets who keeps the record of calls.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Sets the inbox of questions to a person.
    #[must_use]
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = Some(approvals);
        self
    }

    /// Sets where answers are kept whole that are too long for their clients. Without it none is cut.
    #[must_use]
    pub fn results(mut self, store: SharedStore) -> Self {
        self.results = Some(store);
        self
    }

    /// Sets who keeps spans of calls.
    #[must_use]
    pub fn tracer(mut self, tracer: Arc<dyn Tracer>) -> Self {
        self.tracer = Some(tracer);
        self
    }

    /// Says where a metric comes from that another part counts; it is asked whenever someone looks.
    #[must_use]
    pub fn reading(mut self, reading: Reading, from: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.metrics.read(reading, from);
        self
    }

    /// Adds a part that is asked what is wrong with it whenever someone wants to know.
    #[must_use]
    pub fn trouble(
        mut self,
        part: &'static str,
        ask: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.asked_for_trouble.push((part, Box::new(ask)));
        self
    }

    /// Sets the settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The hub. Fails only where the system has no randomness for its key.
    pub fn build(self) -> Result<Hub> {
        let (changes, _) = broadcast::channel(CHANGES);
        let inner = Arc::new(Inner {
            sources: Sources::new(self.sources),
            gates: self.gates,
            filters: Arc::new(Filters(self.filters)),
            settings: ArcSwap::from_pointee(self.settings),
            sealer: Sealer::random()?,
            tasks: TaskTable::default(),
            metrics: self.metrics,
            search_tools: SearchTools::new(),
            changes,
            owner: self.owner,
            results: self.results.map(|store| Results::new(store, self.clock.clone())),
            clock: self.clock,
            alarms: Alarms::new(),
            parking: Parking::default(),
            consents: Consents::default(),
            presence: Arc::default(),
            troubles: Mutex::default(),
            asked_for_trouble: self.asked_for_trouble,
            catalogs: Catalogs::default(),
            info: self.info,
            profiles: ArcSwap::from_pointee(self.profiles),
            limiter: self.limiter,
            recorder: self.recorder,
            approvals: self.approvals,
            tracer: self.tracer,
            instance: crate::seal::random_bytes::<6>()?.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
        for source in &inner.sources.now().all {
            watch_updates(source, &inner);
        }
        sweep(&inner);
        Ok(Hub { inner })
    }
}

/// Lets go, from time to time, of what nobody came back for.
fn sweep(inner: &Arc<Inner>) {
    let (weak, stopping) = (Arc::downgrade(inner), inner.owner.stopping());
    inner.owner.spawn(stopping.run_until_cancelled_owned(async move {
        loop {
            tokio::time::sleep(SWEEP).await;
            let Some(inner) = weak.upgrade() else { return };
            let now = inner.clock.unix_ms();
            inner.metrics.parked(inner.parking.sweep(now));
            inner.consents.sweep(now);
            inner.tasks.sweep(now);
        }
    }));
}

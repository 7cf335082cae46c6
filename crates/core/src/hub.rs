//! The facade that front, admin and CLI share.

mod admission;
mod build;
mod changes;
mod people;
mod resume;
mod upstreams;
mod views;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::broadcast;
use toolgate_host::process_stats::ProcessStats;
use toolgate_host::{Alarms, Clock, Tasks};
use toolgate_wire::Raw;

use crate::catalog::{Catalog, Change};
use crate::catalogs::Catalogs;
use crate::consents::Consents;
use crate::filter::Filters;
use crate::metrics::Now;
use crate::parking::Parking;
use crate::presence::Presence;
use crate::results::Results;
use crate::seal::{Round, Sealer};
use crate::search::SearchTools;
use crate::sources::{Sources, watch_updates};
use crate::task::TaskTable;
use crate::{
    Approvals, Call, Client, Connected, ConnectionId, ConnectionInfo, Exposition, Gate, Limiter, Metrics,
    NewConnection, Offers, Principal, Recorder, Result, Run, RunInfo, Settings, Source, SourceId, Target,
    TaskOp, ToolItem, Tracer, pipeline, run,
};
use resume::Resumed;

pub use build::HubBuilder;
pub use changes::Changes;
pub use views::Look;

/// What the server says of itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its `serverInfo` object: name, title, version.
    pub raw: Raw,
    /// What a model should know about using it.
    pub instructions: Option<String>,
}

/// The facade that front, admin and CLI share. Clones are the same hub.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

/// Tells what is wrong with a part, whenever someone wants to know.
type AskTrouble = Box<dyn Fn() -> Option<String> + Send + Sync>;

pub(crate) struct Inner {
    pub(crate) sources: Arc<Sources>,
    pub(crate) gates: Vec<Box<dyn Gate>>,
    pub(crate) filters: Arc<Filters>,
    pub(crate) settings: ArcSwap<Settings>,
    pub(crate) sealer: Sealer,
    pub(crate) tasks: TaskTable,
    pub(crate) metrics: Metrics,
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) owner: Tasks,
    pub(crate) clock: Clock,
    pub(crate) alarms: Alarms,
    parking: Parking,
    pub(crate) consents: Consents,
    pub(crate) presence: Arc<Presence>,
    troubles: Mutex<BTreeMap<&'static str, String>>,
    asked_for_trouble: Vec<(&'static str, AskTrouble)>,
    catalogs: Catalogs,
    info: ServerInfo,
    profiles: ArcSwap<Vec<Arc<str>>>,
    pub(crate) limiter: Option<Arc<dyn Limiter>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) approvals: Option<Approvals>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    search_tools: Arc<SearchTools>,
    results: Option<Arc<Results>>,
    /// Tells the connections of this hub from those of another.
    pub(crate) instance: String,
}

impl Hub {
    /// Begins to put a hub together.
    pub fn builder(info: ServerInfo, owner: Tasks) -> HubBuilder {
        HubBuilder::new(info, owner)
    }

    pub(crate) fn of(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// Starts a call. The run belongs to the hub; dropping it cancels the call.
    pub fn start(&self, call: Call) -> Run {
        let mut run = self.carry(call);
        run.begin();
        run.hand_over();
        run
    }

    /// As [`Hub::start`], for who waits for the run and does nothing else: it gets on only while its next event is
    /// waited for, until it has said something. Who turns away from it hands it over; dropping it does both.
    pub fn carry(&self, mut call: Call) -> Run {
        let meant = self.inner.unwrap_search(&mut call);
        let (mut run, handle) = run::pair(&mut call, &self.inner);
        match self.inner.take(&call) {
            Ok(taken) => call.taken = taken,
            Err(too_many) => {
                run.finish(self.inner.limited(&call, too_many));
                return run;
            }
        }
        match meant.and_then(|()| self.resume(&call)) {
            Ok(Some(Resumed::Run(parked))) => parked,
            Ok(Some(Resumed::Outcome(outcome))) => {
                run.finish(outcome);
                run
            }
            Ok(Some(Resumed::Source(round))) => self.launch(call, round, run, handle),
            Ok(None) => self.launch(call, Round::default(), run, handle),
            Err(error) => {
                run.finish(self.inner.refused(&call, error));
                run
            }
        }
    }

    fn launch(&self, call: Call, round: Round, mut run: Run, handle: run::RunHandle) -> Run {
        let passing = pipeline::run(self.inner.clone(), Arc::new(call), round, handle.clone());
        run.carries(passing, handle);
        run
    }

    /// Counts a request that reaches no source against its caller's limit.
    pub fn admit(&self, principal: &Principal) -> Result<()> {
        Ok(self.inner.taken(|limiter| limiter.take(principal, None)).map(drop)?)
    }

    /// What changes from now on, as far as this principal may know.
    pub fn changes(&self, principal: &Principal) -> Changes {
        // Whoever listens holds the catalog, so that it is kept and its changes are seen.
        Changes::new(self.inner.changes.subscribe(), self.inner.catalog(principal))
    }

    /// Tells all sources that the folders of the client on standard input are not what they were.
    pub fn roots_changed(&self) {
        for source in &self.inner.sources.now().all {
            source.roots_changed();
        }
    }

    /// Tells the sources that reach other servers that the folders of a client that is elsewhere are not what they were.
    pub fn roots_changed_of(&self, principal: &Principal, connection: ConnectionId) {
        self.inner
            .sources
            .now()
            .all
            .iter()
            .for_each(|source| source.roots_changed_of(&principal.id, connection));
    }

    /// Which of these tasks this principal may listen to.
    pub fn known_tasks(&self, principal: &Principal, ids: &[String]) -> Vec<String> {
        self.inner.tasks.known(ids, &principal.id)
    }

    /// A page of the tasks of this principal, as 2025-11-25 has them.
    pub fn list_tasks(&self, principal: &Principal, cursor: Option<&str>) -> Result<Raw> {
        self.admit(principal)?;
        let (now, most) = (self.inner.clock.unix_ms(), self.inner.settings.load().page_size);
        self.inner.filters.page(self.inner.tasks.page(&principal.id, cursor, (now, most))?)
    }

    /// What the server says of itself.
    pub fn info(&self) -> &ServerInfo {
        &self.inner.info
    }

    /// Which kinds of things there may be.
    pub fn offers(&self) -> Offers {
        let offers = self.inner.sources.offers();
        // What is cut can be read whole.
        Offers { resources: offers.resources || self.inner.cuts().is_some(), ..offers }
    }

    /// Whether some source may know methods that we do not.
    pub fn passes_methods(&self) -> bool {
        self.inner.sources.now().all.iter().any(|source| source.is_foreign())
    }

    /// The profile with this name. Only these have views, so callers cannot make up any number of them.
    pub fn profile(&self, name: &str) -> Option<Arc<str>> {
        self.inner.profiles.load().iter().find(|profile| ***profile == *name).cloned()
    }

    /// The names of all profiles, in order.
    pub fn profiles(&self) -> Vec<Arc<str>> {
        self.inner.profiles.load().to_vec()
    }

    /// Replaces the named views.
    pub fn set_profiles(&self, profiles: Vec<Arc<str>>) {
        self.inner.profiles.store(Arc::new(profiles));
    }

    /// Tells that gates decide otherwise from now on: views are made anew, and clients told to look again.
    pub fn policy_changed(&self) {
        self.inner.catalogs.each(Catalog::renew);
    }

    /// A word that changes whenever the gates may decide otherwise.
    pub fn policy_version(&self) -> String {
        self.inner.policy_version()
    }

    /// The inbox of questions to a person, where there is a store for it.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.inner.approvals.as_ref()
    }

    /// The names of all sources, in order.
    pub fn sources(&self) -> Vec<SourceId> {
        self.inner.sources.now().all.iter().map(|source| source.id().clone()).collect()
    }

    /// Replaces all sources. Clients stay connected and are told what is different; calls under way end where they
    /// began.
    pub fn set_sources(&self, sources: Vec<Arc<dyn Source>>) {
        let before = self.inner.sources.now();
        let now = self.inner.sources.replace(sources);
        let is_new = |source: &&Arc<dyn Source>| !before.all.iter().any(|old| Arc::ptr_eq(old, source));
        for source in now.all.iter().filter(is_new) {
            watch_updates(source, &self.inner);
        }
        self.inner.catalogs.each(Catalog::refresh);
    }

    /// Replaces the settings; they hold for calls and lists from now on.
    pub fn set_settings(&self, settings: Settings) {
        let before = self.inner.settings.swap(Arc::new(settings));
        // Clients list other tools once they search, or no longer do.
        let other = before.search != self.inner.settings.load().search;
        self.inner.catalogs.each(if other { Catalog::renew } else { Catalog::merge });
    }

    /// Notes a client that comes to stay, for as long as what this returns lives.
    pub fn connect(&self, new: NewConnection) -> Connected {
        self.inner.presence.connect(new, &self.inner)
    }

    /// Notes a stream on which a client watches resources, for as long as what this returns lives. It does not show
    /// among those that are connected; calls with its number are let go of with it.
    pub fn watcher(&self) -> Connected {
        self.inner.presence.watch(&self.inner)
    }

    /// Notes that a client no longer watches a resource that no source has now: the one that had it may have it again.
    pub fn let_go(&self, connection: ConnectionId, uri: &str) {
        self.inner.sources.now().all.iter().for_each(|source| source.let_go(connection, uri));
    }

    /// Who is connected now, oldest first.
    pub fn connections(&self) -> Vec<ConnectionInfo> {
        self.inner.presence.all()
    }

    /// What runs now, oldest first; calls that end at once never show.
    pub fn running(&self) -> Vec<RunInfo> {
        self.inner.presence.running()
    }

    /// Notes what is wrong with a part that people rely on, or that it is well again.
    pub fn set_trouble(&self, part: &'static str, trouble: Option<String>) {
        let mut troubles = self.inner.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            Some(trouble) => troubles.insert(part, trouble),
            None => troubles.remove(part),
        };
    }

    /// What is wrong now, by part.
    pub fn troubles(&self) -> BTreeMap<&'static str, String> {
        let mut troubles = self.inner.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let told = self.inner.asked_for_trouble.iter().filter_map(|(part, ask)| Some((*part, ask()?)));
        troubles.extend(told);
        troubles
    }

    /// All metrics as text: what was counted, and what is so right now.
    pub fn scrape(&self, form: Exposition) -> String {
        let version = self.inner.info.raw.get("version");
        form.write(self.inner.metrics.scrape(&Now {
            version: version.and_then(|version| version.as_string().map(Into::into)).unwrap_or_default(),
            connections: self.connections(),
            tasks: self.inner.tasks.count(),
            sources: self.inner.sources.states(),
            process: ProcessStats::read(),
        }))
    }

    /// The counters.
    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    /// Alarms beside its calls.
    pub fn alarms(&self) -> &Alarms {
        &self.inner.alarms
    }

    /// The owner of all tasks of this hub.
    pub fn tasks(&self) -> &Tasks {
        &self.inner.owner
    }
}

impl Inner {
    /// When a question asked now has waited too long.
    pub(crate) fn expiry(&self) -> u64 {
        let limit = self.settings.load().ask_time_limit;
        self.clock.unix_ms().saturating_add(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    }

    /// Where long answers are kept whole, and how long the others are at most.
    pub(crate) fn cuts(&self) -> Option<(&Results, usize)> {
        Some((self.results.as_deref()?, self.settings.load().output_limit?))
    }

    /// How long a call may take.
    pub(crate) fn time_limit(&self, call: &Call) -> Duration {
        let settings = self.settings.load();
        // Who waits for a task may wait for as long as it is kept.
        let most = if matches!(call.target, Target::Task(TaskOp::Result, _)) {
            settings.task_time_limit.saturating_add(settings.task_ttl)
        } else {
            settings.call_time_limit
        };
        call.time_limit.map_or(most, |limit| limit.min(most))
    }

    /// What an approval of a call of this tool is given under: the rules, and the tool's own definition, so that only
    /// who was asked about this very tool is asked again when it changes.
    pub(crate) fn terms(&self, tool: Option<&ToolItem>) -> String {
        let mut terms = self.policy_version();
        if let Some(tool) = tool {
            let digest = toolgate_wire::digest(&tool.raw);
            terms.push(':');
            terms.extend(digest.iter().take(8).map(|byte| format!("{byte:02x}")));
        }
        terms
    }

    pub(crate) fn policy_version(&self) -> String {
        let versions: Vec<_> = self.gates.iter().map(|gate| gate.version()).collect();
        versions
            .iter()
            .filter(|version| !version.is_empty())
            .map(|version| &**version)
            .collect::<Vec<_>>()
            .join(".")
    }
}

/// A client of this process itself: a command, or the admin page.
pub fn local_client() -> Arc<Client> {
    Arc::new(Client::unknown(crate::Transport::Local))
}

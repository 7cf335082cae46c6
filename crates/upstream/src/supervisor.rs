//! What keeps one upstream: it learns what the server has, and learns it again when that may have changed.

mod admission;
mod breaker;
mod era;
mod lacking;
mod learn;
mod pace;
mod watching;

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Error, Kind, Kinds, ListKind, Listing, Result};
use toolgate_host::Tasks;
use toolgate_wire::{Era, Version};

use crate::config::Start;
use crate::definitions::{Definitions, Offered};
use crate::desk::{Changed, Reports};
use crate::fault::Fault;
use crate::journal::Journal;
use crate::line::{Line, Phase};
use crate::link::{Declared, Link};
use crate::plan::{Plan, Reach};
use crate::pool::{Key, Pool, Who};
use crate::starts::Starts;
use crate::transport::WebClient;
use crate::updates::Updates;
use crate::upstream::Surroundings;
use crate::watches::Watches;
use breaker::Breaker;
pub(crate) use breaker::Mark;
use lacking::Lacking;
pub(crate) use lacking::without;
pub(crate) use pace::Pace;

/// How long what is known of a server counts.
const FRESH: Duration = Duration::from_secs(3600);

/// How long to wait before asking a server again that could not say what it has.
const AGAIN: Duration = Duration::from_secs(10);

/// How long what a server has is waited for while a crowd of others waits to start.
const IN_A_CROWD: Duration = Duration::from_millis(300);

/// How many connections to one server are opened at once.
const OPENS: usize = 4;

/// What all parts of one upstream share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Shared with other upstreams, unless it is reached in a way of its own.
    pub(crate) client: WebClient,
    pub(crate) owner: Tasks,
    /// Ends all lines, and the supervisor with them.
    pub(crate) over: CancellationToken,
    pub(crate) reports: Reports,
    /// Wakes the supervisor.
    pub(crate) woken: Arc<Notify>,
    /// How many connections to this server are opened at once, and how many programs in the whole process.
    pub(crate) opens: Semaphore,
    pub(crate) starts: Starts,
    pub(crate) pool: Pool,
    pub(crate) watches: Watches,
    pub(crate) breaker: Breaker,
    pub(crate) offered: ArcSwap<Offered>,
    pub(crate) listing: watch::Sender<Arc<Listing>>,
    pub(crate) learned: watch::Sender<Option<Arc<Definitions>>>,
    begun: Instant,
    enabled: AtomicBool,
    /// Whether it offers what it learned.
    is_offering: AtomicBool,
    version: Mutex<Option<Version>>,
    /// Whether the server may speak another era by now.
    is_era_doubted: AtomicBool,
    lost: AtomicU64,
    /// Why it could not be learned what the server has.
    trouble: Mutex<Option<Fault>>,
    lacking: Mutex<Lacking>,
}

impl Shared {
    pub(crate) fn new(plan: Plan, surroundings: Surroundings) -> Arc<Self> {
        let Surroundings { tasks, variables, starts, client, watches } = surroundings;
        let is_usual = matches!(&plan.reach, Reach::Address(address) if address.is_reached_as_usual());
        let owner = tasks.child();
        let woken = Arc::new(Notify::new());
        let watches = watches.succeed();
        let reports = Reports {
            noticed: woken.clone(),
            updates: Updates::new(watches.clone()),
            journal: Arc::new(Journal::new(plan.name.clone())),
        };
        Arc::new(Self {
            begun: Instant::now(),
            enabled: AtomicBool::new(plan.enabled),
            is_offering: AtomicBool::new(false),
            plan,
            variables,
            client: if is_usual { client } else { WebClient::default() },
            over: owner.stopping(),
            owner,
            reports,
            woken,
            opens: Semaphore::new(OPENS),
            starts,
            pool: Pool::default(),
            watches,
            breaker: Breaker::default(),
            offered: ArcSwap::default(),
            listing: watch::channel(Arc::default()).0,
            learned: watch::channel(None).0,
            version: Mutex::default(),
            is_era_doubted: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            trouble: Mutex::default(),
            lacking: Mutex::default(),
        })
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Refuses what a server that is switched off does not do.
    pub(crate) fn switched_on(&self) -> Result<()> {
        if self.is_enabled() {
            return Ok(());
        }
        let name = &self.plan.name;
        Err(Error::new(Kind::ConnectionFailed, format!("`{name}` is switched off"))
            .hint(format!("run `toolgate mcp enable {name}`")))
    }

    pub(crate) fn set_enabled(&self, on: bool) {
        self.enabled.store(on, Ordering::Relaxed);
        if !on {
            self.watches.forget_nameless();
            // The supervisor may be busy with a list, and gets no more of it.
            self.pool.all().iter().for_each(|line| line.stop());
        }
        self.woken.notify_one();
    }

    pub(crate) fn connected(&self, link: &Link) {
        self.knows(Some(link.facts.version));
        self.breaker.renewed();
    }

    pub(crate) fn lost(&self, why: &str) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        tracing::info!(server = %self.plan.name, why, "connection lost");
    }

    pub(crate) fn times_lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn trouble(&self) -> Option<Fault> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<Fault>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Whether there is a line by which it can be learned what the server has for all.
    pub(crate) fn has_shared_line(&self) -> bool {
        self.pool.all().iter().any(|line| line.is_shared(self) && !line.is_stopping())
    }

    /// Tells servers that the folders of a client are not what they were, by the lines of these.
    pub(crate) fn roots_changed(&self, of: impl Fn(&Who) -> bool) {
        let lines = self.pool.all();
        let asks = |line: &&Arc<Line>| line.key.declared.roots && of(&line.key.who);
        for link in lines.iter().filter(asks).filter_map(|line| line.link()) {
            if link.era() == Era::Legacy {
                link.wire.desk.roots_changed();
            }
        }
    }

    /// Offers what a server has; `pending`: lists that are still waited for.
    pub(crate) fn offer(&self, definitions: &Arc<Definitions>, pending: Kinds) {
        let offered = Offered::of(definitions, &self.plan, &self.reports.journal);
        let listing = Listing {
            tools: offered.tools.iter().map(|facts| facts.item.clone()).collect(),
            resources: offered.resources.clone(),
            templates: offered.templates.clone(),
            prompts: offered.prompts.iter().map(|facts| facts.item.clone()).collect(),
            pending,
        };
        self.offered.store(Arc::new(offered));
        self.is_offering.store(true, Ordering::Relaxed);
        // Who waits for the listing looks at how it stands next, and that follows what was learned.
        self.learned.send_replace(Some(definitions.clone()));
        self.listing.send_replace(Arc::new(listing));
    }

    /// Says that nothing more is to be waited for.
    pub(crate) fn nothing_pending(&self) {
        self.listing.send_if_modified(|listing| {
            let waiting = listing.pending != Kinds::NONE;
            if waiting {
                let Listing { tools, resources, templates, prompts, .. } = &**listing;
                *listing = Arc::new(Listing {
                    tools: tools.clone(),
                    resources: resources.clone(),
                    templates: templates.clone(),
                    prompts: prompts.clone(),
                    pending: Kinds::NONE,
                });
            }
            waiting
        });
    }

    /// Offers nothing.
    fn withdraw(&self) {
        self.is_offering.store(false, Ordering::Relaxed);
        self.offered.store(Arc::default());
        self.listing.send_replace(Arc::default());
    }
}

/// All lists.
pub(crate) fn all_kinds() -> Kinds {
    ListKind::ALL.into_iter().fold(Kinds::NONE, Kinds::with)
}

/// Keeps an upstream until it is stopped.
pub(crate) async fn supervise(shared: Arc<Shared>) {
    let mut signed = shared.plan.authorizer.as_ref().map(|authorizer| authorizer.events());
    let mut watches = shared.watches.changes();
    let mut look_again = Instant::now() + FRESH;
    loop {
        if !shared.is_enabled() {
            shared.pool.all().iter().for_each(|line| line.stop());
            shared.withdraw();
            shared.woken.notified().await;
            continue;
        }
        if !shared.is_offering.load(Ordering::Relaxed) {
            let kept = shared.learned.borrow().clone();
            kept.inspect(|kept| shared.offer(kept, Kinds::NONE));
        }
        if wants_line(&shared) {
            // Only a full pool refuses, which has lines to learn by, or one that was just switched off.
            drop(shared.pool.get(Key::bare(), &shared));
        }
        watching::connect(&shared);
        // One that is held back now may not be any more when all the others were looked at.
        let before = pace::held_back(&shared);
        for line in shared.pool.all() {
            if let Some(wait) = tend(&shared, &line).await {
                look_again = look_again.min(Instant::now() + wait);
            }
        }
        let held_back = before.into_iter().chain(pace::held_back(&shared)).min();
        tokio::select! {
            () = shared.woken.notified() => {}
            // Who tells of it is there for as long as this is.
            _ = watches.changed() => {}
            () = failure(&shared) => {}
            () = until(held_back) => {}
            () = until(shared.ask_lacking_at()) => shared.ask_lacking(),
            event = admission::sign(&mut signed) => admission::admit(&shared, event.as_ref()),
            () = tokio::time::sleep_until(look_again) => {
                look_again = Instant::now() + FRESH;
                ask_again(&shared);
            }
        }
    }
}

/// Has all lists looked at again. A server elsewhere is connected to for it; a program is not started only to be asked,
/// but when it is used.
fn ask_again(shared: &Arc<Shared>) {
    let lines = shared.pool.all();
    match lines.iter().filter(|line| line.is_shared(shared)).find_map(|line| line.link()) {
        Some(link) => link.wire.desk.all_changed(),
        None if matches!(shared.plan.reach, Reach::Address(_)) => {
            // A new line looks at all of them; a full pool refuses one, or one that was just switched off.
            drop(shared.pool.get(Key::bare(), shared));
        }
        None => {}
    }
}

/// Whether there has to be a line although no call needs one.
fn wants_line(shared: &Shared) -> bool {
    !shared.has_shared_line() && (!shared.has_looked() || shared.plan.start == Start::Eager)
}

/// Learns what a line's server has, where that may have changed. Says when to come again.
async fn tend(shared: &Arc<Shared>, line: &Arc<Line>) -> Option<Duration> {
    let link = line.link()?;
    let is_held_back = line.pace().until().is_some();
    let begun = Instant::now();
    if !line.is_shared(shared) {
        // What one principal is shown is not what all are: the line that is everyone's has to look.
        if let Some(changed) = link.wire.desk.take_changed(is_held_back) {
            ask_again(shared);
            looked(shared, line, changed, begun);
        }
        return None;
    }
    if line.key.declared != Declared::default() && link.era() == Era::Legacy {
        step_aside(shared);
    }
    let changed = link.wire.desk.take_changed(is_held_back)?;
    line.learns(true);
    let learned = Box::pin(learn::learn(shared, &link, changed.kinds)).await;
    line.learns(false);
    looked(shared, line, changed, begun);
    match learned {
        Ok(looked) => {
            shared.set_trouble(None);
            shared.looked_at(changed.kinds, looked.untold);
            Some(looked.fresh_for)
        }
        // The next connection looks at all of it.
        Err(_) if link.wire.is_stopped() => None,
        Err(fault @ Fault::SessionGone) => {
            link.doubts(&fault);
            None
        }
        Err(fault) => {
            shared.set_trouble(Some(fault));
            shared.nothing_pending();
            link.wire.desk.all_changed_quietly();
            Some(AGAIN)
        }
    }
}

/// Lets what a server says next of its lists wait, unless it was we who wanted to look at them.
fn looked(shared: &Shared, line: &Line, changed: Changed, begun: Instant) {
    if !changed.wanted && line.pace().looked(begun) && changed.told {
        shared
            .reports
            .journal
            .note("says again and again that its lists changed", "it is looked at less often");
    }
}

/// Waits for a moment; for ever if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// The line by which the server was learned ends when a caller's own line does its work.
fn step_aside(shared: &Shared) {
    let bare = shared.pool.find(&Key::bare());
    let is_unused = |bare: &Arc<Line>| !bare.is_claimed() && !bare.is_serving();
    if let Some(bare) =
        bare.filter(is_unused).filter(|bare| bare.link().is_none_or(|link| link.era() == Era::Legacy))
    {
        bare.stop();
    }
}

/// Completes when the first line fails, or is one of so many that they cannot all be learned soon, so that nobody waits
/// any more for what it would have taught.
async fn failure(shared: &Arc<Shared>) {
    if shared.listing.borrow().pending == Kinds::NONE {
        return std::future::pending().await;
    }
    let Some(line) = shared.pool.find(&Key::bare()) else { return std::future::pending().await };
    let mut phase = line.phase();
    let failed = |phase: &Phase| matches!(phase, Phase::Failed(_) | Phase::Over);
    let in_a_crowd = async {
        shared.starts.crowded().await;
        tokio::time::sleep_until(shared.begun + IN_A_CROWD).await;
    };
    tokio::select! {
        _ = phase.wait_for(failed) => {}
        () = in_a_crowd => {}
    }
    shared.nothing_pending();
}

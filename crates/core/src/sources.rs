//! The sources of a hub, which can be replaced while it runs.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::Instant;
use toolgate_wire::{Edit, Raw};

use crate::catalog::Change;
use crate::filter::Filters;
use crate::hub::Inner;
use crate::{Offers, Source, SourceId, SourceState, Update};

/// How long a burst of changes waits behind another one of its source.
const BETWEEN_BURSTS: Duration = Duration::from_secs(1);

/// All sources at one moment, in order.
pub(crate) struct Set {
    pub(crate) all: Vec<Arc<dyn Source>>,
    pub(crate) offers: Offers,
}

/// The sources of a hub, which can be replaced while it runs.
pub(crate) struct Sources {
    current: ArcSwap<Set>,
    replaced: watch::Sender<()>,
}

impl Sources {
    pub(crate) fn new(all: Vec<Arc<dyn Source>>) -> Arc<Self> {
        Arc::new(Self { current: ArcSwap::from_pointee(Set::new(all)), replaced: watch::channel(()).0 })
    }

    pub(crate) fn now(&self) -> Arc<Set> {
        self.current.load_full()
    }

    pub(crate) fn offers(&self) -> Offers {
        self.current.load().offers
    }

    /// Calls under way end with the sources they began with.
    pub(crate) fn replace(&self, all: Vec<Arc<dyn Source>>) -> Arc<Set> {
        self.current.store(Arc::new(Set::new(all)));
        self.replaced.send_replace(());
        self.now()
    }

    /// How each source is.
    pub(crate) fn states(&self) -> Vec<(SourceId, SourceState)> {
        let state = |source: &Arc<dyn Source>| (source.id().clone(), source.state().unwrap_or_default());
        self.now().all.iter().map(state).collect()
    }

    /// Tells when the sources are replaced.
    pub(crate) fn replaced(&self) -> watch::Receiver<()> {
        self.replaced.subscribe()
    }
}

impl Set {
    fn new(all: Vec<Arc<dyn Source>>) -> Self {
        // Clients learn once what there may be, and tools may come at any time.
        let tools = Offers { tools: true, ..Offers::default() };
        let offers = all.iter().fold(tools, |sum, source| sum.or(source.offers()));
        Self { all, offers }
    }
}

/// Passes on what a source says of changed resources, for as long as the source lives.
pub(crate) fn watch_updates(source: &Arc<dyn Source>, hub: &Inner) {
    let Some(mut updates) = source.updates() else { return };
    let (changes, filters) = (hub.changes.clone(), hub.filters.clone());
    let (owner, id) = (&hub.owner, source.id().clone());
    owner.spawn(owner.stopping().run_until_cancelled_owned(async move {
        let mut bursts = Bursts::default();
        loop {
            let change = tokio::select! {
                biased;
                () = bursts.due() => Change::AnyUpdated(Some(id.clone())),
                update = updates.recv() => match update {
                    Ok(update) => Change::Updated(filtered(update, &filters)),
                    // It was too much to be passed on one by one.
                    Err(RecvError::Lagged(_)) => {
                        bursts.waits = true;
                        continue;
                    }
                    Err(RecvError::Closed) => return,
                },
            };
            // Without listeners there is nobody to tell.
            drop(changes.send(change));
        }
    }));
}

/// The bursts of a source that are told as one, since each has clients look at all that they watch there.
#[derive(Default)]
struct Bursts {
    waits: bool,
    last: Option<Instant>,
}

impl Bursts {
    /// Completes when a burst has to be told.
    async fn due(&mut self) {
        if !self.waits {
            std::future::pending::<()>().await;
        }
        let next = self.last.map(|last| last + BETWEEN_BURSTS);
        if let Some(next) = next.filter(|next| *next > Instant::now()) {
            tokio::time::sleep_until(next).await;
        }
        *self = Self { waits: false, last: Some(Instant::now()) };
    }
}

/// What is said of a resource, as clients may see it. Its URI stays: only who has named it before is told.
fn filtered(update: Update, filters: &Filters) -> Update {
    let Update { uri, params } = update;
    let params = params.and_then(|params| filters.page(params).ok());
    let params = params.map(|params| Edit::new(&params).set("uri", Raw::string(&uri)).finish());
    Update { uri, params }
}

impl Offers {
    fn or(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            resources: self.resources || other.resources,
            prompts: self.prompts || other.prompts,
            completions: self.completions || other.completions,
            tasks: self.tasks || other.tasks,
        }
    }
}

//! Definitions of other servers' tools, kept as they were first seen: what is not as it was is held until someone looks.

mod compare;
mod document;
mod gate;
mod looked;
mod news;
mod report;
mod snapshot;
mod state;
mod suspect;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::broadcast::error::RecvError;
use toolgate_core::{
    Collection, Document, Error, Kind, Listing, Origin, Result, SharedStore, Source, SourceId, StoreError,
    ToolItem, Write, Written,
};
use toolgate_host::Clock;

use crate::config::PinsConfig;
use crate::suggest::{nearest, shown};
use document::Pin;
use looked::{LookedAt, Observed};
use snapshot::Snapshot;
use state::State;

pub use gate::PinsGate;
pub use report::{Finding, Part, PinReport, Severity, Standing};

/// How often a change by someone faster is read again before giving up.
const TRIES: usize = 8;

/// The pinned definitions, shared through the store by all processes that use it. Clones are the same pins.
#[derive(Clone)]
pub struct Pins {
    inner: Arc<Inner>,
}

struct Inner {
    store: SharedStore,
    clock: Clock,
    state: Mutex<State>,
    looked: Mutex<LookedAt>,
    /// Locked by who looks, so that one looks at a time.
    looking: tokio::sync::Mutex<()>,
    /// What the gate goes by.
    current: ArcSwap<Snapshot>,
}

impl Pins {
    /// The pins in this store. Until a source has been observed, the gate holds what it has.
    pub fn new(store: SharedStore, config: PinsConfig, clock: Clock) -> Self {
        let state = State::new(config);
        let current = ArcSwap::from_pointee(state.snapshot());
        let (state, looked, looking) = (Mutex::new(state), Mutex::default(), tokio::sync::Mutex::default());
        Self { inner: Arc::new(Inner { store, clock, state, looked, looking, current }) }
    }

    /// A gate that hides and denies what is held.
    pub fn gate(&self) -> PinsGate {
        PinsGate::new(self.clone())
    }

    /// Goes by other settings from now on. Tells whether the gate decides otherwise now; then views have to be made anew.
    #[must_use]
    pub fn set(&self, config: PinsConfig) -> bool {
        self.change(|state| state.config = config)
    }

    /// Looks at what the sources list, as far as it was not looked at. Tells whether the gate decides otherwise now; then
    /// views have to be made anew.
    pub async fn look(&self, listed: &[(Arc<dyn Source>, Arc<Listing>)]) -> bool {
        self.forget_gone(listed);
        if !listed.iter().any(|(source, _)| source.is_foreign()) || self.looked().has_all(listed) {
            return false;
        }
        let _looking = self.inner.looking.lock().await;
        self.looked().retain(listed);
        // Our own first, so that whoever takes their names is found out.
        for foreign in [false, true] {
            for (source, listing) in listed.iter().filter(|(source, _)| source.is_foreign() == foreign) {
                if self.looked().has(source.id(), listing) {
                    continue;
                }
                match self.look_at(Origin::of(&**source), &listing.tools).await {
                    Ok(observed) => self.looked().note(source.id(), listing, &observed),
                    Err(error) => {
                        tracing::warn!(source = %source.id(), "its tools cannot be compared, and stay held: {error}");
                    }
                }
            }
        }
        self.looked().tell()
    }

    /// What a source had that is gone is nothing to worry about any more; it is looked at again when it is back.
    fn forget_gone(&self, listed: &[(Arc<dyn Source>, Arc<Listing>)]) {
        let sources: Vec<&SourceId> = listed.iter().map(|(source, _)| source.id()).collect();
        let is_fine = self.lock().has_only(&sources);
        if !is_fine {
            self.looked().retain(listed);
            self.change(|state| state.retain(&sources));
        }
    }

    fn looked(&self) -> MutexGuard<'_, LookedAt> {
        self.inner.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what a source lists: notes what is new, and finds what is not as it was. Tells whether the gate decides
    /// otherwise now; then views have to be made anew.
    ///
    /// # Errors
    /// The store did not answer; what was not observed stays held.
    pub async fn observe(&self, origin: Origin<'_>, tools: &[Arc<ToolItem>]) -> Result<bool> {
        Ok(self.look_at(origin, tools).await?.otherwise)
    }

    async fn look_at(&self, origin: Origin<'_>, tools: &[Arc<ToolItem>]) -> Result<Observed> {
        if !origin.foreign {
            let otherwise = self.change(|state| state.note_own(origin.source, tools));
            return Ok(Observed { otherwise, displaces: true });
        }
        let mut displaces = false;
        for _ in 0..TRIES {
            let mut documents = self.documents().await?;
            let now = self.inner.clock.unix_ms();
            let writes = self.lock().sightings(&documents, origin.source, tools, now);
            let written: BTreeSet<String> = writes.iter().map(|write| id(write).to_owned()).collect();
            displaces |= !written.is_empty();
            if !writes.is_empty() {
                if self.inner.store.write(writes).await? != Written::Done {
                    continue;
                }
                documents = self.documents().await?;
            }
            let mut found = Vec::new();
            let otherwise = self.change(|state| {
                state.learn(documents);
                displaces |= state.see(origin.source, tools);
                found = state.news(origin.source, &written);
            });
            news::tell(origin.source, found);
            return Ok(Observed { otherwise, displaces });
        }
        Err(busy())
    }

    /// Reads what others changed in the store. Tells whether the gate decides otherwise now.
    ///
    /// # Errors
    /// The store did not answer.
    pub async fn reload(&self) -> Result<bool> {
        let documents = self.documents().await?;
        Ok(self.change(|state| state.learn(documents)))
    }

    /// Reads again whenever the store says so, for ever; `changed` is called where the gate decides otherwise.
    pub async fn follow(&self, changed: impl Fn() + Send) {
        let mut changes = self.inner.store.changes();
        loop {
            match changes.recv().await {
                Ok(Collection::Pins) | Err(RecvError::Lagged(_)) => match self.reload().await {
                    Ok(true) => changed(),
                    Ok(false) => {}
                    Err(error) => tracing::warn!("cannot read the pins: {error}"),
                },
                Ok(_) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// How many tools that are there stand so with the definition that was seen last.
    pub fn count(&self, standing: Standing) -> u64 {
        self.inner.current.load().count(standing)
    }

    /// Every tool that was ever seen of another server, by source and name.
    ///
    /// # Errors
    /// The store did not answer.
    pub async fn list(&self) -> Result<Vec<PinReport>> {
        let pins = read(&self.documents().await?);
        let state = self.lock();
        Ok(pins.iter().filter(|(_, pin)| !pin.is_mark()).map(|(_, pin)| state.report(pin)).collect())
    }

    /// One of them.
    ///
    /// # Errors
    /// There is none; the hint names the nearest.
    pub async fn show(&self, source: &str, tool: &str) -> Result<PinReport> {
        let (_, pin) = self.find(source, tool).await?;
        Ok(self.lock().report(&pin))
    }

    /// Accepts the definition that a tool has now. Who looked is noted.
    ///
    /// # Errors
    /// There is no such tool, or nothing to accept.
    pub async fn accept(&self, source: &str, tool: &str, by: &str) -> Result<PinReport> {
        self.accept_if(source, tool, by, |_| true).await
    }

    /// Accepts the definition with this digest, and no other: what someone has looked at is what is accepted.
    ///
    /// # Errors
    /// There is no such tool, nothing to accept, or it has another definition by now.
    pub async fn accept_exactly(
        &self,
        source: &str,
        tool: &str,
        digest: &str,
        by: &str,
    ) -> Result<PinReport> {
        self.accept_if(source, tool, by, |pending| pending == digest).await
    }

    async fn accept_if(
        &self,
        source: &str,
        tool: &str,
        by: &str,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<PinReport> {
        for _ in 0..TRIES {
            let (document, mut pin) = self.find(source, tool).await?;
            if pin.pending.as_ref().is_some_and(|pending| !is_meant(&pending.digest)) {
                let message = format!("`{tool}` of `{source}` has another definition by now");
                return Err(Error::new(Kind::Conflict, message).hint("look at it again"));
            }
            if !pin.accept(by, self.inner.clock.unix_ms()) {
                return Err(Error::new(
                    Kind::InvalidInput,
                    format!("`{tool}` of `{source}` is as it was accepted"),
                )
                .hint("`toolgate pins list` shows what is held"));
            }
            if self.inner.store.write(vec![pin.replace(&document)]).await? == Written::Done {
                self.reload().await?;
                return Ok(self.lock().report(&pin));
            }
        }
        Err(busy())
    }

    /// Accepts all that a source has now, and tells what was not accepted before.
    ///
    /// # Errors
    /// There is no such source.
    pub async fn accept_all(&self, source: &str, by: &str) -> Result<Vec<PinReport>> {
        for _ in 0..TRIES {
            let mut pins = read(&self.documents().await?);
            if !pins.iter().any(|(_, pin)| pin.source == source) {
                return Err(no_source(source, pins.iter().map(|(_, pin)| pin.source.as_str())));
            }
            pins.retain(|(_, pin)| pin.source == source && !pin.is_mark());
            let now = self.inner.clock.unix_ms();
            let (mut writes, mut accepted): (Vec<Write>, Vec<Pin>) = (Vec::new(), Vec::new());
            for (document, mut pin) in pins {
                if pin.accept(by, now) {
                    writes.push(pin.replace(&document));
                    accepted.push(pin);
                }
            }
            if writes.is_empty() || self.inner.store.write(writes).await? == Written::Done {
                self.reload().await?;
                let state = self.lock();
                return Ok(accepted.iter().map(|pin| state.report(pin)).collect());
            }
        }
        Err(busy())
    }

    async fn documents(&self) -> Result<Vec<Document>, StoreError> {
        self.inner.store.list(Collection::Pins).await
    }

    async fn find(&self, source: &str, tool: &str) -> Result<(Document, Pin)> {
        let pins = read(&self.documents().await?);
        let found =
            pins.iter().position(|(_, pin)| pin.source == source && pin.tool == tool && !pin.is_mark());
        if let Some(place) = found {
            return pins.into_iter().nth(place).ok_or_else(busy);
        }
        let all = || pins.iter().map(|(_, pin)| pin);
        if !all().any(|pin| pin.source == source) {
            return Err(no_source(source, all().map(|pin| pin.source.as_str())));
        }
        let error = Error::new(Kind::NotFound, format!("`{}` has no tool `{}`", shown(source), shown(tool)));
        let names = all().filter(|pin| pin.source == source && !pin.is_mark()).map(|pin| pin.tool.as_str());
        Err(error.hint(match nearest(tool, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`toolgate pins list` shows them".into(),
        }))
    }

    /// Changes what is known, and tells whether the gate decides otherwise.
    fn change(&self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = self.lock();
        change(&mut state);
        let next = state.snapshot();
        let differs = self.inner.current.load().differs(&next);
        self.inner.current.store(Arc::new(next));
        differs
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id(write: &Write) -> &str {
    match write {
        Write::Insert { id, .. } | Write::Replace { id, .. } | Write::Remove { id, .. } => id,
    }
}

/// What cannot be read is passed over: its tool is then as one that was never seen, and added.
fn read(documents: &[Document]) -> Vec<(Document, Pin)> {
    let pin = |document: &Document| Some((document.clone(), Pin::read(document)?));
    documents.iter().filter_map(pin).collect()
}

fn no_source<'a>(source: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let error = Error::new(Kind::NotFound, format!("no tools of `{}` were ever seen", shown(source)));
    error.hint(match nearest(source, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`toolgate pins list` shows what was".into(),
    })
}

fn busy() -> Error {
    Error::new(Kind::Internal, "the pins are changed by others all the time").hint("try again")
}

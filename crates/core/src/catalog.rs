//! The catalog: the merged, ordered list of all sources, per scope, kept fresh by one watching task.

mod clashes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use futures_util::future::select_all;
use tokio::sync::{broadcast, watch};
use toolgate_wire::Raw;

use crate::sources::{Set, Sources};
use crate::view::View;
use crate::{
    ConnectionId, ListKind, Listing, PromptItem, ResourceItem, Scope, Source, SourceId, TemplateItem,
    ToolItem, Update,
};

pub(crate) use clashes::clashes;

/// What happened that clients may want to know.
#[derive(Debug, Clone)]
pub enum Change {
    /// A list is not what it was, for this scope.
    Listed(Scope, ListKind),
    /// A resource has new content.
    Updated(Update),
    /// More was told than could be passed on: any resource of this source that is watched may have new content, or of any
    /// source.
    AnyUpdated(Option<SourceId>),
    /// A task has a new state.
    Task(Arc<TaskChange>),
    /// A server has a word for one client.
    Told(Arc<Notice>),
}

/// A notification for the client of one connection, after the call that it is about.
#[derive(Debug)]
pub struct Notice {
    /// Whose client it is.
    pub scope: Scope,
    /// The connection that the call came in by.
    pub connection: ConnectionId,
    /// Its method.
    pub method: Arc<str>,
    /// Its params.
    pub params: Raw,
}

/// The new state of a task.
#[derive(Debug)]
pub struct TaskChange {
    /// Whose it is.
    pub scope: Scope,
    /// Its id.
    pub id: Arc<str>,
    /// The lasting connection that its call came in by, if any.
    pub connection: Option<ConnectionId>,
    /// Its description with what it asks or how it ended, as the extension has it.
    pub detail: Raw,
    /// Its description as 2025-11-25 has it.
    pub state: Raw,
}

/// An item and the source it came from.
pub(crate) struct Entry<T> {
    pub(crate) item: Arc<T>,
    pub(crate) source: Arc<dyn Source>,
    /// The place of its source among the sources: lists are ordered by it, then by key.
    pub(crate) place: usize,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self { item: self.item.clone(), source: self.source.clone(), place: self.place }
    }
}

/// Something that is listed under a key.
pub(crate) trait Item {
    fn key(&self) -> &str;
    fn raw(&self) -> &Raw;
}

macro_rules! item {
    ($($type:ty => $key:ident $(. $method:ident())?),* $(,)?) => {$(
        impl Item for $type {
            fn key(&self) -> &str {
                &self.$key$(.$method())?
            }

            fn raw(&self) -> &Raw {
                &self.raw
            }
        }
    )*};
}

item!(ToolItem => name.as_str(), ResourceItem => uri, TemplateItem => text, PromptItem => name);

/// One list of the catalog: ordered, and found by key.
pub(crate) struct Table<T> {
    pub(crate) entries: Vec<Entry<T>>,
    index: HashMap<Arc<str>, usize>,
}

impl<T: Item> Table<T> {
    /// Merges the lists of all sources. The first source to claim a key keeps it; a later one is reported.
    fn merge<'a>(lists: impl Iterator<Item = (&'a Arc<dyn Source>, &'a [Arc<T>])>) -> Self
    where
        T: 'a,
    {
        let mut table = Self { entries: Vec::new(), index: HashMap::new() };
        for (place, (source, items)) in lists.enumerate() {
            let mut sorted: Vec<&Arc<T>> = items.iter().collect();
            sorted.sort_by(|a, b| a.key().cmp(b.key()));
            for item in sorted {
                if table.index.contains_key(item.key()) {
                    tracing::warn!(source = %source.id(), name = item.key(), "name is taken by another source; left out");
                    continue;
                }
                table.push(Entry { item: item.clone(), source: source.clone(), place });
            }
        }
        table
    }

    fn push(&mut self, entry: Entry<T>) {
        self.index.insert(entry.item.key().into(), self.entries.len());
        self.entries.push(entry);
    }

    /// The keys, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.item.key())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry<T>> {
        self.index.get(key).map(|&place| &self.entries[place])
    }

    pub(crate) fn filtered(&self, keep: impl Fn(&Entry<T>) -> bool) -> Self {
        let mut table = Self { entries: Vec::new(), index: HashMap::new() };
        for entry in self.entries.iter().filter(|entry| keep(entry)) {
            table.push(entry.clone());
        }
        table
    }

    fn same(&self, other: &Self) -> bool {
        let raws =
            |table: &Self| table.entries.iter().map(|entry| entry.item.raw().clone()).collect::<Vec<_>>();
        self.entries.len() == other.entries.len() && raws(self) == raws(other)
    }
}

/// What tells the views of one scope apart: the profile, and the roles that a token brought along.
type ViewKey = (Option<Arc<str>>, Arc<[Arc<str>]>);

/// How many views of one snapshot are kept ready.
const MOST_VIEWS: usize = 64;

/// All sources' lists merged, at one moment.
pub(crate) struct Snapshot {
    pub(crate) tools: Table<ToolItem>,
    pub(crate) resources: Table<ResourceItem>,
    pub(crate) templates: Table<TemplateItem>,
    pub(crate) prompts: Table<PromptItem>,
    pub(crate) order: Arc<[SourceId]>,
    /// What it was merged from.
    pub(crate) set: Arc<Set>,
    listings: Vec<Arc<Listing>>,
    /// Views made of this snapshot.
    views: Mutex<HashMap<ViewKey, Arc<View>>>,
}

impl Snapshot {
    fn merge(set: Arc<Set>, scope: &Scope) -> Self {
        let listings: Vec<_> = set.all.iter().map(|source| source.listing(scope).borrow().clone()).collect();
        let both = || set.all.iter().zip(&listings);
        Self {
            tools: Table::merge(both().map(|(source, listing)| (source, listing.tools.as_slice()))),
            resources: Table::merge(both().map(|(source, listing)| (source, listing.resources.as_slice()))),
            templates: Table::merge(both().map(|(source, listing)| (source, listing.templates.as_slice()))),
            prompts: Table::merge(both().map(|(source, listing)| (source, listing.prompts.as_slice()))),
            order: set.all.iter().map(|source| source.id().clone()).collect(),
            views: Mutex::default(),
            listings,
            set,
        }
    }

    /// The view of a profile and these roles, made once per snapshot.
    pub(crate) fn view(
        &self,
        profile: Option<&Arc<str>>,
        roles: &Arc<[Arc<str>]>,
        make: impl FnOnce() -> View,
    ) -> Arc<View> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (profile.cloned(), roles.clone());
        if let Some(view) = views.get(&key) {
            return view.clone();
        }
        if views.len() >= MOST_VIEWS {
            views.clear();
        }
        views.entry(key).or_insert_with(|| Arc::new(make())).clone()
    }

    /// What each source listed when it was merged.
    pub(crate) fn listed(&self) -> Vec<(Arc<dyn Source>, Arc<Listing>)> {
        self.set.all.iter().cloned().zip(self.listings.iter().cloned()).collect()
    }

    fn changed_since(&self, before: &Self) -> Vec<ListKind> {
        let same = |kind: &ListKind| match kind {
            ListKind::Tools => self.tools.same(&before.tools),
            ListKind::Resources => self.resources.same(&before.resources),
            ListKind::Templates => self.templates.same(&before.templates),
            ListKind::Prompts => self.prompts.same(&before.prompts),
        };
        ListKind::ALL.into_iter().filter(|kind| !same(kind)).collect()
    }
}

/// The catalog of one scope.
pub(crate) struct Catalog {
    scope: Scope,
    sources: Arc<Sources>,
    current: ArcSwap<Snapshot>,
    changes: broadcast::Sender<Change>,
    /// Held while merging, so that every change is seen, and told, once.
    merging: Mutex<()>,
}

impl Catalog {
    pub(crate) fn new(scope: Scope, sources: Arc<Sources>, changes: broadcast::Sender<Change>) -> Arc<Self> {
        let current = ArcSwap::from_pointee(Snapshot::merge(sources.now(), &scope));
        Arc::new(Self { scope, sources, current, changes, merging: Mutex::default() })
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Waits until no source has to learn anything of this kind any more.
    pub(crate) async fn learned(&self, kind: ListKind) {
        let set = self.sources.now();
        for source in &set.all {
            source.demand(&self.scope, kind);
        }
        for source in &set.all {
            let mut listing = source.listing(&self.scope);
            // A source that has gone learns nothing more.
            drop(listing.wait_for(|listing| !listing.pending.has(kind)).await);
        }
    }

    /// Merges what the sources list now, if that is not what was merged before, and says what is different.
    pub(crate) fn refresh(&self) {
        if !self.is_fresh() {
            self.merge();
        }
    }

    /// Merges what the sources list now, and says what is different.
    pub(crate) fn merge(&self) {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.load_full();
        let next = Arc::new(Snapshot::merge(self.sources.now(), &self.scope));
        self.current.store(next.clone());
        for kind in next.changed_since(&before) {
            // Without listeners there is nobody to tell.
            drop(self.changes.send(Change::Listed(self.scope.clone(), kind)));
        }
    }

    /// Makes all views anew, and says that every list may be different.
    pub(crate) fn renew(&self) {
        self.merge();
        for kind in ListKind::ALL {
            drop(self.changes.send(Change::Listed(self.scope.clone(), kind)));
        }
    }

    fn is_fresh(&self) -> bool {
        let merged = self.current.load();
        let mut both = merged.set.all.iter().zip(&merged.listings);
        Arc::ptr_eq(&merged.set, &self.sources.now())
            && both.all(|(source, listing)| Arc::ptr_eq(&source.listing(&self.scope).borrow(), listing))
    }

    /// Merges again whenever a source changes, or the sources themselves do, for as long as anybody has the catalog.
    pub(crate) async fn keep_fresh(catalog: Weak<Self>, mut replaced: watch::Receiver<()>) {
        loop {
            let mut listings = {
                let Some(catalog) = catalog.upgrade() else { return };
                // Whatever changed before the waiting began is merged here.
                replaced.mark_unchanged();
                let set = catalog.sources.now();
                let mut listings: Vec<_> =
                    set.all.iter().map(|source| source.listing(&catalog.scope)).collect();
                listings.iter_mut().for_each(watch::Receiver::mark_unchanged);
                catalog.refresh();
                listings
            };
            tokio::select! {
                () = any_changed(&mut listings) => {}
                changed = replaced.changed() => if changed.is_err() { return },
            }
        }
    }
}

/// Waits until one of these lists changes. One whose source has gone changes no more.
async fn any_changed(listings: &mut Vec<watch::Receiver<Arc<Listing>>>) {
    while !listings.is_empty() {
        let waits = listings.iter_mut().map(|listing| Box::pin(listing.changed()));
        let (alive, place, _) = select_all(waits).await;
        if alive.is_ok() {
            return;
        }
        listings.swap_remove(place);
    }
    std::future::pending().await
}

//! The catalog as those see it who look.

use std::sync::Arc;

use toolgate_wire::{Raw, Version};

use crate::catalog::{Catalog, Entry};
use crate::instructions::merged;
use crate::view::{Making, Page, View};
use crate::{Call, Hub, ListKind, Listing, Principal, Result, Scope, Source, SourceId, ToolItem, Viewer};

use super::Inner;

/// Who looks at a list, and how they read it.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Who looks.
    pub principal: &'a Principal,
    /// The named view they came in by.
    pub profile: Option<&'a Arc<str>>,
    /// The protocol revision they read.
    pub version: Version,
}

impl Hub {
    /// A page of a list, as this principal and client see it.
    pub async fn list(&self, look: &Look<'_>, kind: ListKind, cursor: Option<&str>) -> Result<Page> {
        self.admit(look.principal)?;
        let catalog = self.inner.catalog(look.principal);
        self.inner.settle(&catalog, &[kind]).await;
        self.inner.view(&catalog, look.principal, look.profile).page(kind, cursor, look.version)
    }

    /// The catalog as this principal sees it now, without waiting for anything.
    pub fn view(&self, principal: &Principal, profile: Option<&Arc<str>>) -> Arc<View> {
        self.inner.view(&self.inner.catalog(principal), principal, profile)
    }

    /// What a model should know about using the server: our own words, and those of the sources that this principal
    /// sees.
    pub fn instructions(&self, principal: &Principal, profile: Option<&Arc<str>>) -> Option<String> {
        let view = self.view(principal, profile);
        let filters = &self.inner.filters;
        let words = |source: &Arc<dyn Source>| {
            let words = source.instructions()?;
            Some(filters.clean(&words).into_owned())
        };
        let said = view.sources().filter_map(|source| Some((source.id().as_str(), words(source)?)));
        merged(self.inner.info.instructions.as_deref(), said)
    }

    /// The extensions that the sources declare which this principal sees: an object.
    pub fn extensions(&self, principal: &Principal, profile: Option<&Arc<str>>) -> Result<Raw> {
        let view = self.view(principal, profile);
        let declared = view.sources().filter_map(|source| source.declares());
        self.inner.filters.page(crate::extensions::merged(declared))
    }

    /// Whether a call would find a source as things are, without waiting for anything.
    pub fn finds(&self, call: &Call) -> bool {
        self.view(&call.principal, call.profile.as_ref()).route(call).is_ok()
    }

    /// The catalog as this principal sees it, once its sources have learned what they have or the time is up.
    pub async fn settled_view(&self, principal: &Principal, kind: ListKind) -> Arc<View> {
        self.inner.settled(principal, None, kind).await
    }

    /// Every tool with its source, whoever may use it: for those who look at the rules, not for callers.
    pub async fn all_tools(&self) -> Vec<(SourceId, Arc<ToolItem>)> {
        let catalog = self.inner.catalog(&Principal::local());
        self.inner.settle(&catalog, &[ListKind::Tools]).await;
        let entry = |entry: &Entry<ToolItem>| (entry.source.id().clone(), entry.item.clone());
        catalog.snapshot().tools.entries.iter().map(entry).collect()
    }

    /// What each source lists for the person at this machine, tools that are hidden or held too.
    pub fn listings(&self) -> Vec<(Arc<dyn Source>, Arc<Listing>)> {
        let scope = Scope { principal: Principal::local().id.clone() };
        let listing = |source: &Arc<dyn Source>| (source.clone(), source.listing(&scope).borrow().clone());
        self.inner.sources.now().all.iter().map(listing).collect()
    }
}

impl Inner {
    /// The catalog as this principal sees it by this profile, once it has settled.
    pub(crate) async fn settled(
        &self,
        principal: &Principal,
        profile: Option<&Arc<str>>,
        kind: ListKind,
    ) -> Arc<View> {
        let catalog = self.catalog(principal);
        self.settle(&catalog, &[kind]).await;
        self.view(&catalog, principal, profile)
    }

    /// The caller's view; a call waits for sources that are still learning only if it is not there yet.
    pub(crate) async fn view_for_call(&self, call: &Call) -> Arc<View> {
        let catalog = self.catalog(&call.principal);
        let view = self.view(&catalog, &call.principal, call.profile.as_ref());
        if view.route(call).is_ok() {
            return view;
        }
        Box::pin(self.settle(&catalog, call.target.lists())).await;
        self.view(&catalog, &call.principal, call.profile.as_ref())
    }

    /// Makes a call of `tools_call` a call of the tool it names, where that is what the caller meant.
    pub(super) fn unwrap_search(&self, call: &mut Call) -> Result<()> {
        crate::search::unwrapped(call, |call, name| {
            let catalog = self.catalog(&call.principal);
            let view = self.view(&catalog, &call.principal, call.profile.as_ref());
            view.own_tool(name).map(|(_, tool)| tool)
        })
    }

    /// Gives sources that are still learning some time, merges what there is then, and lets the gates look at it.
    async fn settle(&self, catalog: &Catalog, kinds: &[ListKind]) {
        let limit = self.settings.load().list_time_limit;
        let learned = async {
            for kind in kinds {
                catalog.learned(*kind).await;
            }
        };
        // A source that is still starting must not hold up the others for long.
        drop(tokio::time::timeout(limit, learned).await);
        catalog.refresh();
        // Gates look at tools only. They get time of their own: a source that is slow must not hide what others have.
        if !kinds.contains(&ListKind::Tools) {
            return;
        }
        let until = tokio::time::Instant::now() + limit;
        let listed = catalog.snapshot().listed();
        for gate in &self.gates {
            // A gate that has not looked in time shows nothing of what it has not seen.
            if tokio::time::timeout_at(until, gate.look(&listed)).await == Ok(true) {
                self.catalogs.each(Catalog::renew);
            }
        }
    }

    fn view(&self, catalog: &Catalog, principal: &Principal, profile: Option<&Arc<str>>) -> Arc<View> {
        let snapshot = catalog.snapshot();
        snapshot.view(profile, &principal.roles, || {
            let settings = self.settings.load();
            let viewer = Viewer { principal, profile: profile.map(|profile| &**profile) };
            let making = Making {
                gates: &self.gates,
                filters: &self.filters,
                search: settings.search,
                search_tools: &self.search_tools,
                results: self.results.as_ref(),
                page_size: settings.page_size,
                server: &self.info.raw,
            };
            View::of(&snapshot, viewer, &making)
        })
    }

    pub(super) fn catalog(&self, principal: &Principal) -> Arc<Catalog> {
        let scope = Scope { principal: principal.id.clone() };
        self.catalogs.get(scope, (&self.sources, &self.changes, &self.owner))
    }
}

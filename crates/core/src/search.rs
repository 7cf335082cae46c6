//! Large catalogs: clients get three tools to find, read and call all others, instead of every definition.

mod call;
mod describe;
mod find;
mod index;
mod words;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use toolgate_wire::{Edit, Raw};

use crate::catalog::{Entry, Table};
use crate::tool::AnyTool;
use crate::{
    Called, Error, Kind, Listing, Offers, Outcome, Permitted, Result, RunHandle, Scope, Source, SourceId,
    Target, ToolItem, tool,
};
use index::Index;

pub(crate) use call::unwrapped;

/// The source of the three tools.
const SOURCE: &str = "catalog";

/// How many sources are named to who is about to search.
const MOST_NAMED: usize = 40;

/// When clients search for tools instead of getting all their definitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Search {
    /// Never.
    #[default]
    Never,
    /// Where there are more tools than this.
    Above(usize),
    /// Always.
    Always,
}

/// The three tools as they are before any view is known; every view shares them.
pub(crate) struct SearchTools {
    id: SourceId,
    all: [AnyTool<Finder>; 3],
}

impl SearchTools {
    pub(crate) fn new() -> Arc<Self> {
        let all = [tool(find::ToolsSearch), tool(describe::ToolsDescribe), tool(call::ToolsCall)];
        Arc::new(Self { id: SourceId::new(SOURCE), all })
    }

    /// Their definitions, in the order they are listed.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Arc<ToolItem>> {
        self.all.iter().map(|tool| &tool.item)
    }
}

/// The definitions of the three tools, for those who describe what there is.
pub fn search_tools() -> Vec<Arc<ToolItem>> {
    SearchTools::new().items().cloned().collect()
}

/// The three tools over the tools of one view.
pub(crate) struct Finder {
    own: Arc<SearchTools>,
    tools: Arc<Table<ToolItem>>,
    /// The three definitions as they are listed.
    listed: [Raw; 3],
    index: OnceLock<Index>,
}

impl Finder {
    pub(crate) fn new(own: Arc<SearchTools>, tools: Arc<Table<ToolItem>>) -> Arc<Self> {
        let [search, describe, call] = own.all.each_ref().map(|tool| tool.item.raw.clone());
        let listed = [naming_sources(&search, &tools), describe, call];
        Arc::new(Self { own, tools, listed, index: OnceLock::new() })
    }

    /// The three definitions as they are listed.
    pub(crate) fn listed(&self) -> &[Raw; 3] {
        &self.listed
    }

    /// One of the three.
    pub(crate) fn item(&self, name: &str) -> Option<&Arc<ToolItem>> {
        self.own.items().find(|item| item.name.as_str() == name)
    }

    /// The tools that fit a question, best first.
    fn found(&self, query: &str) -> impl Iterator<Item = &Entry<ToolItem>> {
        self.index().find(query).into_iter().filter_map(|number| self.tools.entries.get(number))
    }

    /// The index, made when it is first needed and kept as long as the view.
    fn index(&self) -> &Index {
        let tools = || self.tools.entries.iter().map(|entry| (entry.source.id().as_str(), &*entry.item));
        self.index.get_or_init(|| Index::new(tools()))
    }

    /// Names that whoever wrote this one may have meant, nearest first.
    pub(crate) fn nearest(&self, name: &str) -> Vec<String> {
        let mut names = crate::view::nearest(name, self.tools.keys(), 3);
        names.extend(self.found(name).take(3).map(|entry| entry.item.name.as_str()));
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names.into_iter().take(3).map(ToOwned::to_owned).collect()
    }

    /// The error for a name that no tool of the view has. The model that made it up can do better.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        let error = Error::new(Kind::NotFound, format!("unknown tool `{}`", crate::view::shown(name)));
        match self.nearest(name).as_slice() {
            [] => error.hint("call `tools_search` to find one"),
            names => {
                error.hint(format!("did you mean `{}`? `tools_search` finds others", names.join("`, `")))
            }
        }
    }

    async fn answer(self: Arc<Self>, permitted: Permitted, run: RunHandle) -> Result<Outcome> {
        let Target::Tool(name) = permitted.target() else {
            return Err(Error::new(Kind::UnknownMethod, "unknown method"));
        };
        let Some(tool) = self.own.all.iter().find(|tool| tool.item.name == *name) else {
            return Err(self.unknown(name.as_str()));
        };
        if self.index.get().is_none() {
            // Thousands of tools take a while, in which others should be served.
            let this = self.clone();
            let made = tokio::task::spawn_blocking(move || {
                this.index();
            });
            made.await
                .map_err(|error| Error::new(Kind::Internal, "the tools could not be read").because(error))?;
        }
        (tool.call)(self.clone(), run, permitted.arguments().clone()).await.map(Outcome::Complete)
    }
}

/// A view's finder as the source of its three tools.
pub(crate) struct FinderSource(pub(crate) Arc<Finder>);

impl Source for FinderSource {
    fn id(&self) -> &SourceId {
        &self.0.own.id
    }

    fn offers(&self) -> Offers {
        Offers { tools: true, ..Offers::default() }
    }

    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        let listing = Listing { tools: self.0.own.items().cloned().collect(), ..Listing::default() };
        watch::channel(Arc::new(listing)).1
    }

    fn call(&self, permitted: Permitted, run: RunHandle) -> Called<'_> {
        Box::pin(self.0.clone().answer(permitted, run))
    }
}

/// The definition of `tools_search` with the sources of the view, or nobody would know what to search for.
fn naming_sources(search: &Raw, tools: &Table<ToolItem>) -> Raw {
    let mut names: Vec<&str> = tools.entries.iter().map(|entry| entry.source.id().as_str()).collect();
    names.dedup();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let description = search.get("description");
    let mut text = description.and_then(|text| text.as_string().map(String::from)).unwrap_or_default();
    if !names.is_empty() {
        text.push_str(&format!(" There are tools of: {}", names.join(", ")));
        text.push_str(&if more > 0 { format!(" and {more} more.") } else { ".".to_owned() });
    }
    Edit::new(search).set("description", Raw::string(&text)).finish()
}

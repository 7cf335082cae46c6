//! The catalog as one principal, profile and era sees it.

mod method;
mod route;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolgate_wire::{Era, Raw};

use crate::catalog::{Entry, Item, Snapshot, Table};
use crate::cursor::Cursor;
use crate::filter::Filters;
use crate::guard::guard;
use crate::results::Results;
use crate::search::{Finder, FinderSource, SearchTools};
use crate::sources::Set;
use crate::{
    Error, Gate, Kind, ListKind, Listed, Origin, PromptItem, ResourceItem, Result, Search, Source, SourceId,
    TemplateItem, ToolItem, Viewer,
};

pub use route::resource_not_found;
pub(crate) use route::{Route, nearest, shown};

/// How long a modern client may keep a list without asking again; a change is announced earlier.
const LIST_TTL_MS: u32 = 5000;

/// One page of a list, as the result object that answers for it.
pub type Page = Raw;

/// The catalog as one principal and profile sees it.
pub struct View {
    tools: Arc<Table<ToolItem>>,
    resources: Table<ResourceItem>,
    templates: Table<TemplateItem>,
    prompts: Table<PromptItem>,
    /// The tools to search with, where anybody may come to have them.
    finder: Option<Arc<FinderSource>>,
    /// Whether they are listed instead of all others.
    searches: bool,
    results: Option<Arc<Results>>,
    filters: Arc<Filters>,
    sources: Arc<Set>,
    /// The sources in order, those without items too: a cursor names one.
    order: Arc<[SourceId]>,
    page_size: usize,
    server: Raw,
    /// The first page of each list in each era, kept ready.
    first: [[OnceLock<Page>; 2]; 4],
}

/// What views are made with.
pub(crate) struct Making<'a> {
    pub(crate) gates: &'a [Box<dyn Gate>],
    pub(crate) filters: &'a Arc<Filters>,
    pub(crate) search: Search,
    pub(crate) search_tools: &'a Arc<SearchTools>,
    pub(crate) results: Option<&'a Arc<Results>>,
    pub(crate) page_size: usize,
    pub(crate) server: &'a Raw,
}

impl Making<'_> {
    /// When this viewer searches: as a gate says, else as is set.
    fn search_of(&self, viewer: Viewer<'_>) -> Search {
        let told = self.gates.iter().find_map(|gate| guard("gate", || gate.searches(viewer)).ok().flatten());
        match told {
            Some(true) => Search::Always,
            Some(false) => Search::Never,
            None => self.search,
        }
    }
}

impl View {
    pub(crate) fn of(snapshot: &Snapshot, viewer: Viewer<'_>, making: &Making<'_>) -> Self {
        // A gate that breaks down hides.
        let shown = |item: Listed<'_>, source: &dyn Source| {
            let origin = Origin::of(source);
            making
                .gates
                .iter()
                .all(|gate| guard("gate", || gate.shows(viewer, item, origin)).unwrap_or(false))
        };
        let tools = snapshot.tools.filtered(|entry| shown(Listed::Tool(&entry.item), &*entry.source));
        let tools = Arc::new(tools);
        let (may_search, searches) = match making.search_of(viewer) {
            Search::Never => (false, false),
            Search::Above(most) => (true, tools.entries.len() > most),
            Search::Always => (true, true),
        };
        let finder = may_search.then(|| Finder::new(making.search_tools.clone(), tools.clone()));
        Self {
            finder: finder.map(|finder| Arc::new(FinderSource(finder))),
            searches,
            results: making.results.cloned(),
            tools,
            resources: snapshot
                .resources
                .filtered(|entry| shown(Listed::Resource(&entry.item), &*entry.source)),
            templates: snapshot
                .templates
                .filtered(|entry| shown(Listed::Template(&entry.item), &*entry.source)),
            prompts: snapshot.prompts.filtered(|entry| shown(Listed::Prompt(&entry.item), &*entry.source)),
            filters: making.filters.clone(),
            sources: snapshot.set.clone(),
            order: snapshot.order.clone(),
            page_size: making.page_size,
            server: making.server.clone(),
            first: Default::default(),
        }
    }

    /// The tools, in order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolItem> {
        self.tools.entries.iter().map(|entry| &*entry.item)
    }

    /// The tools with the names of their sources, in order.
    pub fn tools_by_source(&self) -> impl Iterator<Item = (&str, &ToolItem)> {
        self.tools.entries.iter().map(|entry| (entry.source.id().as_str(), &*entry.item))
    }

    /// The sources of which anything is seen, in order.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Arc<dyn Source>> {
        let mut seen = BTreeMap::new();
        seen.extend(self.tools.entries.iter().map(|entry| (entry.place, &entry.source)));
        seen.extend(self.resources.entries.iter().map(|entry| (entry.place, &entry.source)));
        seen.extend(self.templates.entries.iter().map(|entry| (entry.place, &entry.source)));
        seen.extend(self.prompts.entries.iter().map(|entry| (entry.place, &entry.source)));
        seen.into_values()
    }

    /// Whether the tools are searched for, and only those to search with are listed.
    pub fn searches(&self) -> bool {
        self.searches
    }

    /// How many bytes of definitions a client is given that lists the tools.
    pub fn listed_bytes(&self) -> usize {
        match self.finder.as_ref().filter(|_| self.searches) {
            Some(finder) => finder.0.listed().iter().map(|raw| raw.as_bytes().len()).sum(),
            None => self.tools().map(|tool| tool.raw.as_bytes().len()).sum(),
        }
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<&ToolItem> {
        self.tools.get(name).map(|entry| &*entry.item)
    }

    /// A page of a list, as a client of this era reads it.
    pub fn page(&self, kind: ListKind, cursor: Option<&str>, era: Era) -> Result<Page> {
        if let Some(text) = cursor {
            let cursor = Cursor::decode(text, kind)?;
            return self.render(kind, Some(&cursor), era);
        }
        let ready = &self.first[kind as usize][era as usize];
        if let Some(page) = ready.get() {
            return Ok(page.clone());
        }
        let page = self.render(kind, None, era)?;
        Ok(ready.get_or_init(|| page).clone())
    }

    fn render(&self, kind: ListKind, after: Option<&Cursor>, era: Era) -> Result<Page> {
        let body = match kind {
            ListKind::Tools if self.searches => self.search_body(after)?,
            ListKind::Tools => self.body("tools", kind, &self.tools, after)?,
            ListKind::Resources => self.body("resources", kind, &self.resources, after)?,
            ListKind::Templates => self.body("resourceTemplates", kind, &self.templates, after)?,
            ListKind::Prompts => self.body("prompts", kind, &self.prompts, after)?,
        };
        let tail = match era {
            Era::Legacy => String::new(),
            Era::Modern => format!(
                r#","resultType":"complete","ttlMs":{LIST_TTL_MS},"cacheScope":"private","_meta":{{"{}":{}}}"#,
                toolgate_wire::meta::SERVER_INFO,
                self.server.as_str()
            ),
        };
        self.filters.page(Raw::trusted(format!("{{{body}{tail}}}").into()))
    }

    /// The tools to search with, always on one page.
    fn search_body(&self, after: Option<&Cursor>) -> Result<String> {
        if after.is_some() {
            return Err(Error::new(
                Kind::InvalidParams,
                "`cursor` points to a tool that is not listed any more",
            )
            .hint("list again from the start"));
        }
        let listed = self.finder.iter().flat_map(|finder| finder.0.listed());
        let listed: Vec<&str> = listed.map(Raw::as_str).collect();
        Ok(format!(r#""tools":[{}]"#, listed.join(",")))
    }

    fn body<T: Item>(
        &self,
        name: &str,
        kind: ListKind,
        table: &Table<T>,
        after: Option<&Cursor>,
    ) -> Result<String> {
        let entries = &table.entries;
        let start = after.map_or(Ok(0), |cursor| self.start_behind(entries, cursor))?;
        let end = entries.len().min(start + self.page_size);
        let mut body = format!(r#""{name}":["#);
        for (place, entry) in entries[start..end].iter().enumerate() {
            if place > 0 {
                body.push(',');
            }
            body.push_str(entry.item.raw().as_str());
        }
        body.push(']');
        if let (true, Some(last)) = (end < entries.len(), entries[start..end].last()) {
            let next = Cursor { source: last.source.id().to_string(), key: last.item.key().into() };
            body.push_str(&format!(r#","nextCursor":"{}""#, next.encode(kind)));
        }
        Ok(body)
    }

    fn start_behind<T: Item>(&self, entries: &[Entry<T>], cursor: &Cursor) -> Result<usize> {
        let Some(place) = self.order.iter().position(|source| source.as_str() == cursor.source) else {
            return Err(Error::new(Kind::InvalidParams, "`cursor` points to a source that is gone")
                .hint("list again from the start"));
        };
        Ok(entries.partition_point(|entry| (entry.place, entry.item.key()) <= (place, cursor.key.as_str())))
    }
}

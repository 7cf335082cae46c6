//! The catalog as one principal, profile and era sees it.

mod method;
mod route;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolgate_wire::{Edit, Era, Raw, Version};

use crate::catalog::{Entry, Item, Snapshot, Table};
use crate::cursor::Cursor;
use crate::filter::Filters;
use crate::guard::guard;
use crate::results::Results;
use crate::search::{Finder, FinderSource, SearchTools};
use crate::sources::Set;
use crate::{
    Error, Gate, Kind, ListKind, Listed, Origin, PromptItem, ResourceItem, Result, Search, Source, SourceId,
    TaskMode, TemplateItem, ToolItem, Viewer,
};

pub use route::resource_not_found;
pub(crate) use route::{Route, nearest, shown};

/// How long a modern client may keep a list without asking again; a change is announced earlier.
const LIST_TTL_MS: u32 = 5000;

/// How an item is written.
type Shape<'a, T> = &'a dyn Fn(&T) -> Raw;

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
    /// The first page of each list in each way to read it, kept ready.
    first: [[OnceLock<Page>; 3]; 4],
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

    /// A page of a list, as a client of this revision reads it.
    pub fn page(&self, kind: ListKind, cursor: Option<&str>, version: Version) -> Result<Page> {
        if let Some(text) = cursor {
            let cursor = Cursor::decode(text, kind)?;
            return self.render(kind, Some(&cursor), version);
        }
        let way = match version.era() {
            Era::Legacy => usize::from(version.has_core_tasks()),
            Era::Modern => 2,
        };
        let ready = &self.first[kind as usize][way];
        if let Some(page) = ready.get() {
            return Ok(page.clone());
        }
        let page = self.render(kind, None, version)?;
        Ok(ready.get_or_init(|| page).clone())
    }

    fn render(&self, kind: ListKind, after: Option<&Cursor>, version: Version) -> Result<Page> {
        let tool = |item: &ToolItem| tool_for(&item.raw, item.task, version);
        let body = match kind {
            ListKind::Tools if self.searches => self.search_body(after, version)?,
            ListKind::Tools => self.body("tools", kind, &self.tools, (after, &tool))?,
            ListKind::Resources => self.body("resources", kind, &self.resources, (after, &as_it_is))?,
            ListKind::Templates => {
                self.body("resourceTemplates", kind, &self.templates, (after, &as_it_is))?
            }
            ListKind::Prompts => self.body("prompts", kind, &self.prompts, (after, &as_it_is))?,
        };
        let tail = match version.era() {
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
    fn search_body(&self, after: Option<&Cursor>, version: Version) -> Result<String> {
        if after.is_some() {
            return Err(Error::new(
                Kind::InvalidParams,
                "`cursor` points to a tool that is not listed any more",
            )
            .hint("list again from the start"));
        }
        let listed = self.finder.iter().flat_map(|finder| finder.0.listed());
        let listed: Vec<Raw> = listed.map(|raw| tool_for(raw, TaskMode::Optional, version)).collect();
        let listed: Vec<&str> = listed.iter().map(Raw::as_str).collect();
        Ok(format!(r#""tools":[{}]"#, listed.join(",")))
    }

    fn body<T: Item>(
        &self,
        name: &str,
        kind: ListKind,
        table: &Table<T>,
        (after, shape): (Option<&Cursor>, Shape<'_, T>),
    ) -> Result<String> {
        let entries = &table.entries;
        let start = after.map_or(Ok(0), |cursor| self.start_behind(entries, cursor))?;
        let end = entries.len().min(start + self.page_size);
        let mut body = format!(r#""{name}":["#);
        for (place, entry) in entries[start..end].iter().enumerate() {
            if place > 0 {
                body.push(',');
            }
            body.push_str(shape(&entry.item).as_str());
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

fn as_it_is<T: Item>(item: &T) -> Raw {
    item.raw().clone()
}

/// The definition of a tool as a revision has it: only one of them says there whether a tool runs as a task. What its
/// server said of that stays; where it could not say, the source knows.
fn tool_for(raw: &Raw, task: TaskMode, version: Version) -> Raw {
    const EXECUTION: &str = "execution";
    const SUPPORT: &str = "taskSupport";
    let execution = raw.get(EXECUTION);
    let said = execution.as_ref().is_some_and(|execution| execution.get(SUPPORT).is_some());
    let word = match task {
        TaskMode::Never => None,
        TaskMode::Optional => Some(r#""optional""#),
        TaskMode::Required => Some(r#""required""#),
    };
    match (version.has_core_tasks(), said, word) {
        (true, false, Some(word)) => Edit::new(raw).set_in(EXECUTION, SUPPORT, Raw::literal(word)).finish(),
        (false, true, _) => {
            let only = execution.is_some_and(|execution| execution.entries().nth(1).is_none());
            let edit = Edit::new(raw);
            if only { edit.remove(EXECUTION) } else { edit.remove_in(EXECUTION, SUPPORT) }.finish()
        }
        (true, ..) | (false, false, _) => raw.clone(),
    }
}

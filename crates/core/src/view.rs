//! The catalog as one principal, profile and era sees it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolgate_wire::{Era, Raw};

use crate::catalog::{Entry, Item, Snapshot, Table};
use crate::cursor::Cursor;
use crate::filter::Filters;
use crate::guard::guard;
use crate::{
    CompletionRef, Error, Gate, Kind, ListKind, Listed, Origin, PromptItem, ResourceItem, Result, Source,
    SourceId, Target, TemplateItem, ToolItem, Viewer,
};

/// How long a modern client may keep a list without asking again; a change is announced earlier.
const LIST_TTL_MS: u32 = 5000;

/// One page of a list, as the result object that answers for it.
pub type Page = Raw;

/// The catalog as one principal and profile sees it.
pub struct View {
    tools: Table<ToolItem>,
    resources: Table<ResourceItem>,
    templates: Table<TemplateItem>,
    prompts: Table<PromptItem>,
    filters: Arc<Filters>,
    /// The sources in order, those without items too: a cursor names one.
    order: Arc<[SourceId]>,
    page_size: usize,
    server: Raw,
    /// The first page of each list in each era, kept ready.
    first: [[OnceLock<Page>; 2]; 4],
}

/// Where a call goes.
pub(crate) struct Route {
    pub(crate) source: Option<Arc<dyn Source>>,
    pub(crate) tool: Option<Arc<ToolItem>>,
}

impl View {
    pub(crate) fn of(
        snapshot: &Snapshot,
        viewer: Viewer<'_>,
        gates: &[Box<dyn Gate>],
        filters: Arc<Filters>,
        (page_size, server): (usize, Raw),
    ) -> Self {
        // A gate that breaks down hides.
        let shown = |item: Listed<'_>, source: &dyn Source| {
            let origin = Origin::of(source);
            gates.iter().all(|gate| guard("gate", || gate.shows(viewer, item, origin)).unwrap_or(false))
        };
        Self {
            tools: snapshot.tools.filtered(|entry| shown(Listed::Tool(&entry.item), &*entry.source)),
            resources: snapshot
                .resources
                .filtered(|entry| shown(Listed::Resource(&entry.item), &*entry.source)),
            templates: snapshot
                .templates
                .filtered(|entry| shown(Listed::Template(&entry.item), &*entry.source)),
            prompts: snapshot.prompts.filtered(|entry| shown(Listed::Prompt(&entry.item), &*entry.source)),
            filters,
            order: snapshot.order.clone(),
            page_size,
            server,
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

    /// Finds where a call goes; a tool that this view hides is as unknown as one that does not exist.
    pub(crate) fn route(&self, target: &Target) -> Result<Route> {
        let to = |source: &Arc<dyn Source>| Route { source: Some(source.clone()), tool: None };
        match target {
            Target::Tool(name) => {
                let Some(entry) = self.tools.get(name.as_str()) else {
                    return Err(self.unknown_tool(name.as_str()));
                };
                Ok(Route { source: Some(entry.source.clone()), tool: Some(entry.item.clone()) })
            }
            Target::Prompt(name) | Target::Completion(CompletionRef::Prompt(name)) => {
                let Some(entry) = self.prompts.get(name) else {
                    return Err(Error::new(Kind::UnknownTarget, format!("unknown prompt `{}`", shown(name))));
                };
                Ok(to(&entry.source))
            }
            Target::Completion(CompletionRef::Resource(text)) => self
                .templates
                .get(text)
                .map(|entry| to(&entry.source))
                .or_else(|| self.owner(text).map(to))
                .ok_or_else(|| resource_not_found(text)),
            Target::Resource(uri) | Target::Subscribe(uri) | Target::Unsubscribe(uri) => {
                self.owner(uri).map(to).ok_or_else(|| resource_not_found(uri))
            }
            // The hub keeps its own tasks.
            Target::Task(..) => Ok(Route { source: None, tool: None }),
            Target::Method(method) => {
                Err(Error::new(Kind::UnknownMethod, format!("unknown method `{}`", shown(method))))
            }
        }
    }

    /// The source of a resource: by table, then by template, then by the tools that show it as their page.
    fn owner(&self, uri: &str) -> Option<&Arc<dyn Source>> {
        let by_table = self.resources.get(uri).map(|entry| &entry.source);
        by_table.or_else(|| {
            let fits = |entry: &&Entry<TemplateItem>| entry.item.template.matches(uri).is_some();
            let by_template = self.templates.entries.iter().find(fits).map(|entry| &entry.source);
            by_template.or_else(|| self.shows_page(uri))
        })
    }

    /// The source of a tool that has this page, which servers need not list.
    fn shows_page(&self, uri: &str) -> Option<&Arc<dyn Source>> {
        let is_page = |entry: &&Entry<ToolItem>| {
            let page = entry.item.raw.path(&["_meta", "ui", "resourceUri"]);
            page.is_some_and(|page| page.as_string().as_deref() == Some(uri))
        };
        if !uri.starts_with("ui://") {
            return None;
        }
        self.tools.entries.iter().find(is_page).map(|entry| &entry.source)
    }

    /// The error for a name that no tool has; it names the nearest.
    pub fn unknown_tool(&self, name: &str) -> Error {
        let error = Error::new(Kind::UnknownTarget, format!("unknown tool `{}`", shown(name)));
        match nearest(name, self.tools().map(|tool| tool.name.as_str())) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("call `tools/list` to see what exists"),
        }
    }
}

/// What a caller sent, shortened and escaped for a message.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if text.len() <= 200 && !text.chars().any(char::is_control) {
        return text.into();
    }
    text.chars().take(200).flat_map(char::escape_debug).collect::<String>().into()
}

/// The error for a URI that no resource has.
pub fn resource_not_found(uri: &str) -> Error {
    let data = format!(r#"{{"uri":{}}}"#, Raw::string(uri).as_str());
    Error::new(Kind::ResourceNotFound, format!("resource `{}` not found", shown(uri)))
        .data(Raw::trusted(data.into()))
}

/// The nearest of some names, if one is near.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > 128 {
        return None;
    }
    names
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

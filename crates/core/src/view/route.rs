//! Where a call goes, as the caller's view has it.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_wire::Raw;

use super::View;
use crate::catalog::Entry;
use crate::results::Results;
use crate::{Call, CompletionRef, Error, Kind, Result, Source, Target, TemplateItem, ToolItem, ToolName};

/// Where a call goes.
pub(crate) struct Route {
    pub(crate) source: Option<Arc<dyn Source>>,
    pub(crate) tool: Option<Arc<ToolItem>>,
    /// Whether it shows only what the caller has been shown before, as lists do: then there is nothing to judge.
    pub(crate) shows_only: bool,
}

impl Route {
    fn to(source: &Arc<dyn Source>) -> Self {
        Self { source: Some(source.clone()), tool: None, shows_only: false }
    }
}

impl View {
    /// Finds where a call goes; a tool that this view hides is as unknown as one that does not exist.
    pub(crate) fn route(&self, call: &Call) -> Result<Route> {
        match &call.target {
            Target::Tool(name) => self.tool_route(name, call.via_search),
            Target::Prompt(name) | Target::Completion(CompletionRef::Prompt(name)) => {
                let Some(entry) = self.prompts.get(name) else {
                    return Err(Error::new(Kind::UnknownTarget, format!("unknown prompt `{}`", shown(name))));
                };
                Ok(Route::to(&entry.source))
            }
            Target::Completion(CompletionRef::Resource(text)) => self
                .templates
                .get(text)
                .map(|entry| Route::to(&entry.source))
                .or_else(|| self.owner(text).map(Route::to))
                .ok_or_else(|| resource_not_found(text)),
            // No source can lay claim to what another one answered.
            Target::Resource(uri) if self.results.is_some() && Results::owns(uri) => {
                let source = self.results.clone().map(|results| results as Arc<dyn Source>);
                Ok(Route { source, tool: None, shows_only: true })
            }
            Target::Resource(uri) | Target::Subscribe(uri) | Target::Unsubscribe(uri) => {
                self.owner(uri).map(Route::to).ok_or_else(|| resource_not_found(uri))
            }
            // The hub keeps its own tasks.
            Target::Task(..) => Ok(Route { source: None, tool: None, shows_only: false }),
            Target::Method(method) => self.knowing(method, &call.params).map(Route::to),
        }
    }

    /// What was searched for is a tool of a source, whatever its name.
    fn tool_route(&self, name: &ToolName, via_search: bool) -> Result<Route> {
        if let Some((finder, tool)) = self.own_tool(name.as_str()).filter(|_| !via_search) {
            return Ok(Route { source: Some(finder), tool: Some(tool), shows_only: true });
        }
        if let Some(entry) = self.tools.get(name.as_str()) {
            return Ok(Route { tool: Some(entry.item.clone()), ..Route::to(&entry.source) });
        }
        match self.finder.as_ref().filter(|_| via_search) {
            Some(finder) => Err(finder.0.unknown(name.as_str())),
            None => Err(self.unknown_tool(name.as_str())),
        }
    }

    /// One of the tools to search with. Where they are not listed, a tool of a source with such a name comes first.
    pub(crate) fn own_tool(&self, name: &str) -> Option<(Arc<dyn Source>, Arc<ToolItem>)> {
        let finder = self.finder.as_ref()?;
        let tool = finder.0.item(name)?;
        let free = self.searches || self.tools.get(name).is_none();
        free.then(|| (finder.clone() as Arc<dyn Source>, tool.clone()))
    }

    /// The source of a resource: by table, then by template, then by the tools that show it as their page.
    pub(super) fn owner(&self, uri: &str) -> Option<&Arc<dyn Source>> {
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
        match nearest(name, self.tools.keys(), 1).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if self.searches => error.hint("call `tools_search` to find what exists"),
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

/// The nearest of some names that are near, nearest first; of equals the earlier one.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    if name.len() > 128 {
        return Vec::new();
    }
    let mut near: Vec<(f64, &str)> = names
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.85)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

//! What a server has, as it says it: kept so that it need not be started to be listed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolgate_core::{Kinds, ListKind, PromptItem, ResourceItem, TemplateItem};
use toolgate_wire::{Raw, Template, Version};

use crate::fault::short;
use crate::journal::Journal;
use crate::names;
use crate::plan::Plan;
use crate::shaping::{self, Speaks, ToolFacts};
use crate::supervisor::without;

/// What a server says it has, in its own bytes. It can be kept across restarts as any serializer writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definitions {
    /// The configuration it was learned under.
    pub(crate) fingerprint: String,
    /// The protocol revision the server spoke.
    pub(crate) version: String,
    /// Its capabilities.
    pub(crate) capabilities: Raw,
    /// What it calls itself.
    pub(crate) server: Option<Raw>,
    /// What a model should know about using it.
    pub(crate) instructions: Option<String>,
    /// Its tools.
    pub(crate) tools: Vec<Raw>,
    /// Its resources.
    pub(crate) resources: Vec<Raw>,
    /// Its resource templates.
    pub(crate) templates: Vec<Raw>,
    /// Its prompts.
    pub(crate) prompts: Vec<Raw>,
    /// The lists that it has never told, or not yet.
    #[serde(default, rename = "incomplete", with = "incomplete")]
    pub(crate) untold: Kinds,
}

/// How it is kept that some lists were not told. All of them are asked for then.
mod incomplete {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use toolgate_core::Kinds;

    use crate::supervisor::all_kinds;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
    pub(super) fn serialize<S: Serializer>(untold: &Kinds, serializer: S) -> Result<S::Ok, S::Error> {
        (*untold != Kinds::NONE).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kinds, D::Error> {
        let is_incomplete = bool::deserialize(deserializer)?;
        Ok(if is_incomplete { all_kinds() } else { Kinds::NONE })
    }
}

impl Definitions {
    /// What a model should know about using the server, in the server's words.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Its tools, in the server's bytes.
    pub fn tools(&self) -> &[Raw] {
        &self.tools
    }

    /// One of its lists, in the server's bytes.
    pub fn list(&self, kind: ListKind) -> &[Raw] {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Resources => &self.resources,
            ListKind::Templates => &self.templates,
            ListKind::Prompts => &self.prompts,
        }
    }

    /// What the server calls itself.
    pub fn server(&self) -> Option<&Raw> {
        self.server.as_ref()
    }

    /// The extensions that the server declares, settled or experimental.
    pub(crate) fn extensions(&self) -> Vec<String> {
        let declared = |key: &str| {
            let declared = self.capabilities.get(key);
            declared.iter().flat_map(Raw::entries).map(|(name, _)| name.into_owned()).collect::<Vec<_>>()
        };
        [declared("extensions"), declared("experimental")].concat()
    }

    /// The protocol revision the server spoke.
    pub fn version(&self) -> Option<Version> {
        self.version.parse().ok()
    }

    /// Takes a list as it was told.
    pub(crate) fn set(&mut self, kind: ListKind, items: Vec<Raw>) {
        self.untold = without(self.untold, Kinds::only(kind));
        match kind {
            ListKind::Tools => self.tools = items,
            ListKind::Resources => self.resources = items,
            ListKind::Templates => self.templates = items,
            ListKind::Prompts => self.prompts = items,
        }
    }
}

/// What a server has, as it is offered: the listing, and what each name stands for.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    pub(crate) tools: Vec<Arc<ToolFacts>>,
    pub(crate) resources: Vec<Arc<ResourceItem>>,
    pub(crate) templates: Vec<Arc<TemplateItem>>,
    pub(crate) prompts: Vec<Arc<PromptFacts>>,
    /// Where each tool is.
    index: HashMap<String, usize>,
}

/// A prompt as it is offered.
#[derive(Debug)]
pub(crate) struct PromptFacts {
    pub(crate) item: Arc<PromptItem>,
    /// What the server calls it.
    pub(crate) own: String,
}

impl Offered {
    /// What is offered of what a server has. What cannot be offered is noted.
    pub(crate) fn of(definitions: &Definitions, plan: &Plan, journal: &Journal) -> Self {
        let version = definitions.version().unwrap_or(Version::LATEST_LEGACY);
        let speaks = Speaks {
            modern_http: version.has_result_type() && matches!(plan.reach, crate::plan::Reach::Address(_)),
            core_tasks: version.has_core_tasks(),
        };
        let mut tools: Vec<Arc<ToolFacts>> = unique(&definitions.tools, journal, |raw| {
            let facts = shaping::tool(raw, plan, speaks, journal)?;
            Some((facts.item.name.to_string(), facts))
        });
        let index =
            tools.iter().enumerate().map(|(place, facts)| (facts.item.name.to_string(), place)).collect();
        // Which of two tools of one name the server would call it alone knows: they are listed as two, for the policy.
        let twice = doubled(&definitions.tools);
        let doubled: Vec<_> = tools.iter().filter(|facts| twice.contains(&facts.own)).cloned().collect();
        tools.extend(doubled);
        Self {
            tools,
            index,
            resources: unique(&definitions.resources, journal, |raw| {
                let uri: Arc<str> = text(raw, "uri", journal)?.into();
                Some((uri.to_string(), ResourceItem { uri, raw: raw.clone() }))
            }),
            templates: unique(&definitions.templates, journal, |raw| template(raw, journal)),
            prompts: unique(&definitions.prompts, journal, |raw| prompt(raw, plan, journal)),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<ToolFacts>> {
        self.index.get(name).map(|&place| &self.tools[place])
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<&Arc<PromptFacts>> {
        self.prompts.iter().find(|facts| &*facts.item.name == name)
    }
}

/// Reads items, leaving out those whose key is taken.
fn unique<T>(raws: &[Raw], journal: &Journal, read: impl Fn(&Raw) -> Option<(String, T)>) -> Vec<Arc<T>> {
    let mut seen = HashSet::new();
    let mut items = Vec::with_capacity(raws.len());
    for raw in raws {
        let Some((key, item)) = read(raw) else { continue };
        if seen.contains(&key) {
            journal.note("has two things of one name", &key);
            continue;
        }
        seen.insert(key);
        items.push(Arc::new(item));
    }
    items
}

/// The names that a server has for more than one tool.
fn doubled(raws: &[Raw]) -> HashSet<String> {
    let name = |raw: &Raw| raw.get("name")?.as_string().map(std::borrow::Cow::into_owned);
    let mut once = HashSet::new();
    raws.iter().filter_map(name).filter(|name| !once.insert(name.clone())).collect()
}

fn template(raw: &Raw, journal: &Journal) -> Option<(String, TemplateItem)> {
    let own = text(raw, "uriTemplate", journal)?;
    match Template::parse(&own) {
        Ok(template) => Some((own.clone(), TemplateItem { template, text: own.into(), raw: raw.clone() })),
        Err(error) => {
            journal.note("has a template that cannot be used", &format!("{error}: {}", short(&own)));
            None
        }
    }
}

fn prompt(raw: &Raw, plan: &Plan, journal: &Journal) -> Option<(String, PromptFacts)> {
    let own = text(raw, "name", journal)?;
    let name = names::shown(plan.prefix.as_deref(), &own);
    let renamed = shaping::named(raw, &own, &name);
    let item = Arc::new(PromptItem { name: name.as_str().into(), raw: renamed });
    Some((name, PromptFacts { item, own }))
}

pub(crate) fn text(raw: &Raw, key: &str, journal: &Journal) -> Option<String> {
    let value = raw.get(key);
    let text = value.as_ref().and_then(Raw::as_string).filter(|text| !text.is_empty());
    if text.is_none() {
        journal.note("lists something without a name", key);
    }
    text.map(std::borrow::Cow::into_owned)
}

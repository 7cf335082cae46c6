//! Rules that decide on a call.

use std::pin::Pin;
use std::sync::Arc;

use crate::{
    Call, Error, Listing, Note, Principal, PromptItem, ResourceItem, Source, SourceId, TemplateItem, ToolItem,
};

/// What a gate says of a call.
#[derive(Debug)]
pub enum Verdict {
    /// This gate has nothing against it.
    Pass,
    /// It may not go on.
    Deny(Error),
    /// A person has to agree first; the words say why.
    Ask(String),
}

/// A verdict, and the rule it comes from.
#[derive(Debug)]
pub struct Judgement {
    /// What the gate says.
    pub verdict: Verdict,
    /// The rule that decided, as records, explanations and approvals name it; without one, the gate itself.
    pub rule: Option<Arc<str>>,
}

impl Judgement {
    /// A verdict by a rule.
    pub fn by(rule: Arc<str>, verdict: Verdict) -> Self {
        Self { verdict, rule: Some(rule) }
    }
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, rule: None }
    }
}

/// Where something comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Its source.
    pub source: &'a SourceId,
    /// Whether that source is someone else's server.
    pub foreign: bool,
}

impl<'a> Origin<'a> {
    /// Where what this source has comes from.
    pub fn of(source: &'a dyn Source) -> Self {
        Self { source: source.id(), foreign: source.is_foreign() }
    }
}

/// What a gate is shown of a call.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The call.
    pub call: &'a Call,
    /// The tool it is for, where it is for a tool.
    pub tool: Option<&'a ToolItem>,
    /// Where it goes; the hub answers for its own tasks.
    pub origin: Option<Origin<'a>>,
}

/// Who looks at a list.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a> {
    /// Who.
    pub principal: &'a Principal,
    /// The named view they came in by.
    pub profile: Option<&'a str>,
}

/// Something that may be listed.
#[derive(Debug, Clone, Copy)]
pub enum Listed<'a> {
    /// A tool.
    Tool(&'a ToolItem),
    /// A resource.
    Resource(&'a ResourceItem),
    /// A resource template.
    Template(&'a TemplateItem),
    /// A prompt.
    Prompt(&'a PromptItem),
}

/// What a gate will have learned from looking at lists: whether it decides otherwise now.
pub type Looking<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// A rule that decides on a call. It is pure: the pipeline logs, counts and answers.
pub trait Gate: Send + Sync {
    /// Its name, for records and explanations.
    fn name(&self) -> &'static str;

    /// Decides on a call.
    fn judge(&self, judged: Judged<'_>) -> Judgement;

    /// Whether any arguments could let this viewer use this item; if not, it is not even listed.
    fn shows(&self, viewer: Viewer<'_>, item: Listed<'_>, origin: Origin<'_>) -> bool {
        let _ = (viewer, item, origin);
        true
    }

    /// Whether this viewer searches for tools instead of getting all their definitions, if it has a say in that.
    fn searches(&self, viewer: Viewer<'_>) -> Option<bool> {
        let _ = viewer;
        None
    }

    /// Looks at what the sources list, where it has to before it shows any of their tools.
    fn look<'a>(&'a self, listed: &'a [(Arc<dyn Source>, Arc<Listing>)]) -> Looking<'a> {
        let _ = listed;
        Box::pin(std::future::ready(false))
    }

    /// What people should know of a source who look at how that stands.
    fn notes(&self, source: &SourceId) -> Vec<Note> {
        let _ = source;
        Vec::new()
    }

    /// A word that changes whenever its decisions may; an approval holds only for the rules it was given under.
    fn version(&self) -> Arc<str> {
        "".into()
    }
}

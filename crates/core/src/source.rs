//! Where tools come from: packs and upstreams, and what they list.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use toolgate_wire::headers::HeaderParam;
use toolgate_wire::{Edit, Raw, Template};

use crate::{
    ConnectionId, Hints, InputCheck, Outcome, Permitted, PrincipalId, Result, RunHandle, SourceState,
    SourceStatus, TaskMode, ToolName,
};

/// The name of a source, unique in a hub.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Arc<str>);

impl SourceId {
    /// A source by name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Whether a source of others may be called so: the name stands in front of those of its tools, and in commands and
    /// routes.
    pub fn fits(name: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        (1..=32).contains(&name.len()) && name.bytes().all(fits)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// For whom a source lists: what it has may differ from one principal to the next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Who looks.
    pub principal: PrincipalId,
}

/// What answers a call.
pub type Called<'a> = Pin<Box<dyn Future<Output = Result<Outcome>> + Send + 'a>>;

/// Where tools come from: a pack or an upstream.
pub trait Source: Send + Sync {
    /// Its name.
    fn id(&self) -> &SourceId;

    /// Whether it is someone else's server, whose definitions are pinned and whose word counts for less.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Which kinds of things it may have; what it lists may still be empty.
    fn offers(&self) -> Offers;

    /// What it has, as a value that is always there and can be watched. It never waits.
    fn listing(&self, scope: &Scope) -> watch::Receiver<Arc<Listing>>;

    /// Says that someone is about to look at one kind of thing, for sources that learn it only on demand.
    fn demand(&self, scope: &Scope, kind: ListKind) {
        let _ = (scope, kind);
    }

    /// The resources that have new content. Who falls behind takes any of them for changed.
    fn updates(&self) -> Option<broadcast::Receiver<Update>> {
        None
    }

    /// What a model should know about using it, in its own words.
    fn instructions(&self) -> Option<Arc<str>> {
        None
    }

    /// The extensions of the protocol that it declares: a method that nobody else knows goes to who declares it.
    fn extensions(&self) -> Vec<String> {
        Vec::new()
    }

    /// What of them its clients may use by way of us, with their settings: an object.
    fn declares(&self) -> Option<Raw> {
        None
    }

    /// How it stands, where there is more to say than that it is there.
    fn status(&self) -> Option<SourceStatus> {
        None
    }

    /// How it stands, in a word.
    fn state(&self) -> Option<SourceState> {
        self.status().map(|status| status.state)
    }

    /// How long a call of it may take where that can be set; a call may always take as long as the hub says.
    fn time_limit(&self) -> Option<TimeLimit> {
        None
    }

    /// Connects anew, and learns anew what there is.
    fn restart(&self) {}

    /// A client's connection has ended, and what it watched is of no interest to it any more.
    fn left(&self, connection: ConnectionId) {
        let _ = connection;
    }

    /// A client no longer watches a resource that this source has not, or not now.
    fn let_go(&self, connection: ConnectionId, uri: &str) {
        let _ = (connection, uri);
    }

    /// The folders of the client on standard input are not what they were.
    fn roots_changed(&self) {}

    /// The folders of a client that is elsewhere are not what they were. Ours are not among them.
    fn roots_changed_of(&self, principal: &PrincipalId, connection: ConnectionId) {
        let _ = (principal, connection);
    }

    /// Answers a call. Only a permitted one can get here.
    fn call(&self, permitted: Permitted, run: RunHandle) -> Called<'_>;
}

/// A resource has new content.
#[derive(Debug, Clone)]
pub struct Update {
    /// Its URI.
    pub uri: Arc<str>,
    /// The params of the notification, where its source says more than the URI.
    pub params: Option<Raw>,
}

impl Update {
    /// Nothing is said but that it has.
    pub fn of(uri: impl Into<Arc<str>>) -> Self {
        Self { uri: uri.into(), params: None }
    }

    /// The params of the notification.
    pub fn to_params(&self) -> Raw {
        let bare = || Edit::new(&Raw::EMPTY_OBJECT).set("uri", Raw::string(&self.uri)).finish();
        self.params.clone().unwrap_or_else(bare)
    }
}

/// How long a call of a source may take.
#[derive(Debug, Clone)]
pub struct TimeLimit {
    /// How long.
    pub limit: Duration,
    /// What to set, in milliseconds, so that it may take longer.
    pub setting: Arc<str>,
}

/// Which kinds of things a source may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offers {
    /// Tools.
    pub tools: bool,
    /// Resources and templates.
    pub resources: bool,
    /// Prompts.
    pub prompts: bool,
    /// Completion of arguments.
    pub completions: bool,
    /// Tools that may run as tasks.
    pub tasks: bool,
}

/// One of the four lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `prompts/list`.
    Prompts,
}

impl ListKind {
    /// Every list.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];
}

/// A set of lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// One of them.
    pub const fn only(kind: ListKind) -> Self {
        Self(1 << kind as u8)
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, kind: ListKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// These and those.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this one is among them.
    pub const fn has(self, kind: ListKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// What a source has: raw items and the little of them that we route on.
#[derive(Debug, Default)]
pub struct Listing {
    /// Its tools.
    pub tools: Vec<Arc<ToolItem>>,
    /// Its resources.
    pub resources: Vec<Arc<ResourceItem>>,
    /// Its resource templates.
    pub templates: Vec<Arc<TemplateItem>>,
    /// Its prompts.
    pub prompts: Vec<Arc<PromptItem>>,
    /// The lists that are still being learned.
    pub pending: Kinds,
}

/// A tool as listed.
#[derive(Debug)]
pub struct ToolItem {
    /// Its name.
    pub name: ToolName,
    /// A name for people.
    pub title: Option<String>,
    /// Its definition, as it is listed.
    pub raw: Raw,
    /// What it says of itself.
    pub hints: Hints,
    /// The parameters that the modern era repeats in headers.
    pub headers: Vec<HeaderParam>,
    /// The check of its arguments, for tools whose input we check.
    pub input: Option<InputCheck>,
    /// Whether a client of 2025-11-25 may call it as a task.
    pub task: TaskMode,
}

/// A resource as listed.
#[derive(Debug)]
pub struct ResourceItem {
    /// Its URI.
    pub uri: Arc<str>,
    /// Its definition, as it is listed.
    pub raw: Raw,
}

/// A resource template as listed.
#[derive(Debug)]
pub struct TemplateItem {
    /// What its URIs look like.
    pub template: Template,
    /// The template as text.
    pub text: Arc<str>,
    /// Its definition, as it is listed.
    pub raw: Raw,
}

/// A prompt as listed.
#[derive(Debug)]
pub struct PromptItem {
    /// Its name.
    pub name: Arc<str>,
    /// Its definition, as it is listed.
    pub raw: Raw,
}

//! A scripted source.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use toolgate_core::{
    Called, ConnectionId, Error, Hints, InputCheck, Kind, Kinds, ListKind, Listing, Offers, Outcome,
    Permitted, PrincipalId, PromptItem, ResourceItem, Result, RunHandle, Scope, Source, SourceId,
    SourceState, SourceStatus, TaskMode, TemplateItem, TimeLimit, ToolItem, Update,
};
use toolgate_wire::{Raw, Template};

/// What a fake does when it is called.
pub type Behaviour =
    Arc<dyn Fn(Permitted, RunHandle) -> Pin<Box<dyn Future<Output = Result<Outcome>> + Send>> + Send + Sync>;

type OnDemand = Box<dyn Fn(&FakeSource, ListKind) + Send + Sync>;

/// One call that reached a fake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The name, URI or method it was for.
    pub name: String,
    /// The arguments as text.
    pub arguments: String,
    /// The answers as text, if there were any.
    pub answers: Option<String>,
    /// The fake's own state, if it had given one.
    pub state: Option<String>,
}

/// A scripted source: what it lists is data, what it does are closures.
pub struct FakeSource {
    id: SourceId,
    listing: watch::Sender<Arc<Listing>>,
    updates: broadcast::Sender<Update>,
    behaviours: HashMap<String, Behaviour>,
    otherwise: Option<Behaviour>,
    seen: Mutex<Vec<Seen>>,
    demanded: Mutex<Vec<ListKind>>,
    left: Mutex<Vec<ConnectionId>>,
    let_go: Mutex<Vec<(ConnectionId, String)>>,
    roots: Mutex<Vec<(String, ConnectionId)>>,
    on_demand: Option<OnDemand>,
    /// What it declares, if it is someone else's.
    foreign: Option<Vec<String>>,
    status: Option<SourceStatus>,
    time_limit: Option<TimeLimit>,
}

impl FakeSource {
    /// A source without anything.
    pub fn new(name: &str) -> Self {
        Self {
            id: SourceId::new(name),
            listing: watch::channel(Arc::default()).0,
            updates: broadcast::channel(64).0,
            behaviours: HashMap::new(),
            otherwise: None,
            seen: Mutex::default(),
            demanded: Mutex::default(),
            left: Mutex::default(),
            let_go: Mutex::default(),
            roots: Mutex::default(),
            on_demand: None,
            foreign: None,
            status: None,
            time_limit: None,
        }
    }

    /// Sets how long a call of it may take.
    #[must_use]
    pub fn takes(mut self, limit: Duration) -> Self {
        self.time_limit = Some(TimeLimit { limit, setting: format!("{}.timeout", self.id).into() });
        self
    }

    /// Says how it stands, as someone else's server does.
    #[must_use]
    pub fn stands(mut self, state: SourceState) -> Self {
        self.status = Some(SourceStatus { name: self.id.to_string(), state, ..SourceStatus::default() });
        self
    }

    /// Adds a tool that takes any object.
    #[must_use]
    pub fn tool<F, R>(self, name: &str, behaviour: F) -> Self
    where
        F: Fn(Permitted, RunHandle) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome>> + Send + 'static,
    {
        self.tool_as(tool_item(name), behaviour)
    }

    /// Adds a tool whose arguments are checked against a schema.
    #[must_use]
    pub fn checked_tool<F, R>(self, name: &str, schema: Value, behaviour: F) -> Self
    where
        F: Fn(Permitted, RunHandle) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome>> + Send + 'static,
    {
        let raw = Raw::of(&json!({"name": name, "inputSchema": schema}));
        self.tool_as(ToolItem { raw, input: Some(InputCheck::new(schema)), ..tool_item(name) }, behaviour)
    }

    /// Adds a tool as it is given.
    #[must_use]
    pub fn tool_as<F, R>(mut self, item: ToolItem, behaviour: F) -> Self
    where
        F: Fn(Permitted, RunHandle) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome>> + Send + 'static,
    {
        let name = item.name.to_string();
        self.change(|listing| listing.tools.push(Arc::new(item)));
        self.behaviours.insert(name, boxed(behaviour));
        self
    }

    /// Adds a tool that answers with its arguments as text.
    #[must_use]
    pub fn echo(self, name: &str) -> Self {
        self.tool(name, |permitted, _| {
            let arguments = permitted.arguments().clone();
            async move { Ok(Outcome::Complete(text(arguments.as_str()))) }
        })
    }

    /// Says what happens to calls for anything but its tools.
    #[must_use]
    pub fn otherwise<F, R>(mut self, behaviour: F) -> Self
    where
        F: Fn(Permitted, RunHandle) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome>> + Send + 'static,
    {
        self.otherwise = Some(boxed(behaviour));
        self
    }

    /// Lists these besides, in the order given.
    #[must_use]
    pub fn with(self, change: impl FnOnce(&mut Listing)) -> Self {
        self.change(change);
        self
    }

    /// Makes it someone else's server, which declares these extensions.
    #[must_use]
    pub fn foreign(mut self, extensions: &[&str]) -> Self {
        self.foreign = Some(extensions.iter().map(ToString::to_string).collect());
        self
    }

    /// Begins with lists that it still has to learn.
    #[must_use]
    pub fn pending(self, kinds: Kinds) -> Self {
        self.set_pending(kinds);
        self
    }

    /// Says what happens when someone is about to look at a list.
    #[must_use]
    pub fn on_demand(mut self, demanded: impl Fn(&Self, ListKind) + Send + Sync + 'static) -> Self {
        self.on_demand = Some(Box::new(demanded));
        self
    }

    /// Changes what it lists.
    pub fn change(&self, change: impl FnOnce(&mut Listing)) {
        self.listing.send_modify(|listing| {
            let mut next = copy(listing);
            change(&mut next);
            *listing = Arc::new(next);
        });
    }

    /// Says which lists it still has to learn.
    pub fn set_pending(&self, kinds: Kinds) {
        self.change(|listing| listing.pending = kinds);
    }

    /// Says that a resource has new content.
    pub fn updated(&self, uri: &str) {
        self.tells(Update::of(uri));
    }

    /// Says that a resource has new content, and more.
    pub fn tells(&self, update: Update) {
        // Without a hub there is nobody to tell.
        drop(self.updates.send(update));
    }

    /// How many calls reached it.
    pub fn calls(&self) -> usize {
        lock(&self.seen).len()
    }

    /// The calls that reached it, in order.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    /// The connections that have ended, in order.
    pub fn departed(&self) -> Vec<ConnectionId> {
        lock(&self.left).clone()
    }

    /// What clients ceased to watch while no source had it, in order.
    pub fn let_go_of(&self) -> Vec<(ConnectionId, String)> {
        lock(&self.let_go).clone()
    }

    /// Whose folders changed that are not on this machine, in order.
    pub fn changed_roots(&self) -> Vec<(String, ConnectionId)> {
        lock(&self.roots).clone()
    }

    /// The lists that were looked at, in order.
    pub fn demanded(&self) -> Vec<ListKind> {
        lock(&self.demanded).clone()
    }
}

impl Source for FakeSource {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offers(&self) -> Offers {
        Offers { tools: true, resources: true, prompts: true, completions: true, tasks: true }
    }

    fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }

    fn extensions(&self) -> Vec<String> {
        self.foreign.clone().unwrap_or_default()
    }

    fn declares(&self) -> Option<Raw> {
        let all = self.foreign.as_ref()?.iter().map(|name| (name.clone(), json!({})));
        Some(Raw::of(&serde_json::Map::from_iter(all)))
    }

    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        self.listing.subscribe()
    }

    fn demand(&self, _: &Scope, kind: ListKind) {
        lock(&self.demanded).push(kind);
        if let Some(on_demand) = &self.on_demand {
            on_demand(self, kind);
        }
    }

    fn status(&self) -> Option<SourceStatus> {
        self.status.clone()
    }

    fn time_limit(&self) -> Option<TimeLimit> {
        self.time_limit.clone()
    }

    fn updates(&self) -> Option<broadcast::Receiver<Update>> {
        Some(self.updates.subscribe())
    }

    fn left(&self, connection: ConnectionId) {
        lock(&self.left).push(connection);
    }

    fn let_go(&self, connection: ConnectionId, uri: &str) {
        lock(&self.let_go).push((connection, uri.to_owned()));
    }

    fn roots_changed_of(&self, principal: &PrincipalId, connection: ConnectionId) {
        lock(&self.roots).push((principal.to_string(), connection));
    }

    fn call(&self, permitted: Permitted, run: RunHandle) -> Called<'_> {
        let name = permitted.target().name().to_owned();
        lock(&self.seen).push(Seen {
            name: name.clone(),
            arguments: permitted.arguments().as_str().to_owned(),
            answers: permitted.answers().map(|answers| answers.as_str().to_owned()),
            state: permitted.state().map(ToOwned::to_owned),
        });
        match self.behaviours.get(&name).or(self.otherwise.as_ref()) {
            Some(behaviour) => behaviour(permitted, run),
            None => Box::pin(async { Err(Error::new(Kind::Internal, "the fake has no script for this")) }),
        }
    }
}

/// A tool that takes any object.
pub fn tool_item(name: &str) -> ToolItem {
    ToolItem {
        name: name.parse().unwrap(),
        title: None,
        raw: Raw::of(&json!({"name": name, "inputSchema": {"type": "object"}})),
        hints: Hints::default(),
        headers: Vec::new(),
        input: None,
        task: TaskMode::Optional,
    }
}

/// A resource.
pub fn resource_item(uri: &str) -> Arc<ResourceItem> {
    Arc::new(ResourceItem { uri: uri.into(), raw: Raw::of(&json!({"uri": uri, "name": uri})) })
}

/// A resource template.
pub fn template_item(text: &str) -> Arc<TemplateItem> {
    let raw = Raw::of(&json!({"uriTemplate": text, "name": text}));
    Arc::new(TemplateItem { template: Template::parse(text).unwrap(), text: text.into(), raw })
}

/// A prompt.
pub fn prompt_item(name: &str) -> Arc<PromptItem> {
    Arc::new(PromptItem { name: name.into(), raw: Raw::of(&json!({"name": name})) })
}

/// The result of a tool that answers with a text.
pub fn text(text: &str) -> Raw {
    Raw::of(&json!({"content": [{"type": "text", "text": text}]}))
}

fn boxed<F, R>(behaviour: F) -> Behaviour
where
    F: Fn(Permitted, RunHandle) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Outcome>> + Send + 'static,
{
    Arc::new(move |permitted, run| Box::pin(behaviour(permitted, run)))
}

fn copy(listing: &Listing) -> Listing {
    Listing {
        tools: listing.tools.clone(),
        resources: listing.resources.clone(),
        templates: listing.templates.clone(),
        prompts: listing.prompts.clone(),
        pending: listing.pending,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

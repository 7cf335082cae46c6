//! A pack: built-in tools over one shared state, as a source.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::{broadcast, watch};
use toolgate_wire::Raw;

use crate::tool::AnyTool;
use crate::view::resource_not_found;
use crate::{
    Called, CompletionRef, Error, Kind, ListKind, Listing, Offers, Outcome, Permitted, Result, RunHandle,
    Scope, Source, SourceId, Target, Update,
};

/// How many changed resources may wait for a slow hub.
const UPDATES: usize = 64;

/// A group of built-in tools over one shared state.
pub trait Pack: Send + Sync + Sized + 'static {
    /// Its name, which its tools' names begin with.
    const NAME: &'static str;

    /// Its tools.
    fn tools() -> Vec<AnyTool<Self>>;

    /// What it may have besides tools.
    fn offers() -> Offers {
        Offers { tools: true, ..Offers::default() }
    }

    /// Hands it the shelf to put resources and prompts on; called once, before anything else.
    fn attach(&self, shelf: Shelf) {
        drop(shelf);
    }

    /// Someone is about to look at a list.
    fn demand(&self, kind: ListKind) {
        let _ = kind;
    }

    /// The folders of the client on standard input are not what they were.
    fn roots_changed(&self) {}

    /// Reads a resource: a `resources/read` result.
    fn read(&self, run: &RunHandle, uri: &str) -> impl Future<Output = Result<Raw>> + Send {
        let _ = run;
        std::future::ready(Err(resource_not_found(uri)))
    }

    /// Gets a prompt: a `prompts/get` result.
    fn prompt(
        &self,
        run: &RunHandle,
        name: &str,
        arguments: Raw,
    ) -> impl Future<Output = Result<Raw>> + Send {
        let _ = (run, name, arguments);
        std::future::ready(Err(Error::new(Kind::UnknownTarget, "unknown prompt")))
    }

    /// Completes an argument: a `completion/complete` result.
    fn complete(&self, of: &CompletionRef, argument: &Raw) -> Result<Raw> {
        let _ = (of, argument);
        Ok(Raw::literal(r#"{"completion":{"values":[]}}"#))
    }

    /// Someone began or ceased to watch a resource.
    fn watched(&self, uri: &str, watched: bool) -> Result<()> {
        let _ = (uri, watched);
        Ok(())
    }
}

/// What a pack lists, for the pack to change.
#[derive(Debug, Clone)]
pub struct Shelf {
    listing: watch::Sender<Arc<Listing>>,
    updates: broadcast::Sender<Update>,
}

impl Shelf {
    /// Changes what is listed.
    pub fn update(&self, change: impl FnOnce(&mut Listing)) {
        self.listing.send_modify(|listing| {
            let mut next = Listing {
                tools: listing.tools.clone(),
                resources: listing.resources.clone(),
                templates: listing.templates.clone(),
                prompts: listing.prompts.clone(),
                pending: listing.pending,
            };
            change(&mut next);
            *listing = Arc::new(next);
        });
    }

    /// Says that a resource has new content.
    pub fn updated(&self, uri: &str) {
        // Without listeners there is nobody to tell.
        drop(self.updates.send(Update::of(uri)));
    }
}

/// A pack as a source.
pub struct PackSource<P: Pack> {
    id: SourceId,
    pack: Arc<P>,
    tools: Vec<AnyTool<P>>,
    shelf: Shelf,
}

impl<P: Pack> PackSource<P> {
    /// The pack as a source.
    pub fn new(pack: P) -> Self {
        let tools = P::tools();
        let listed =
            Listing { tools: tools.iter().map(|tool| tool.item.clone()).collect(), ..Listing::default() };
        let shelf =
            Shelf { listing: watch::channel(Arc::new(listed)).0, updates: broadcast::channel(UPDATES).0 };
        pack.attach(shelf.clone());
        Self { id: SourceId::new(P::NAME), pack: Arc::new(pack), tools, shelf }
    }

    async fn answer(&self, permitted: Permitted, run: RunHandle) -> Result<Raw> {
        match permitted.target() {
            Target::Tool(name) => {
                let tool = self.tools.iter().find(|tool| tool.item.name == *name);
                let tool =
                    tool.ok_or_else(|| Error::new(Kind::UnknownTarget, format!("unknown tool `{name}`")))?;
                (tool.call)(self.pack.clone(), run, permitted.arguments().clone()).await
            }
            Target::Resource(uri) => self.pack.read(&run, uri).await,
            Target::Prompt(name) => self.pack.prompt(&run, name, permitted.arguments().clone()).await,
            Target::Completion(of) => {
                let argument = permitted.params().get("argument").unwrap_or_else(|| Raw::literal("{}"));
                self.pack.complete(of, &argument)
            }
            Target::Subscribe(uri) => self.pack.watched(uri, true).map(|()| Raw::literal("{}")),
            Target::Unsubscribe(uri) => self.pack.watched(uri, false).map(|()| Raw::literal("{}")),
            Target::Task(..) | Target::Method(_) => Err(Error::new(Kind::UnknownMethod, "unknown method")),
        }
    }
}

impl<P: Pack> Source for PackSource<P> {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offers(&self) -> Offers {
        P::offers()
    }

    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        self.shelf.listing.subscribe()
    }

    fn demand(&self, _: &Scope, kind: ListKind) {
        self.pack.demand(kind);
    }

    fn updates(&self) -> Option<broadcast::Receiver<Update>> {
        Some(self.shelf.updates.subscribe())
    }

    fn roots_changed(&self) {
        self.pack.roots_changed();
    }

    fn call(&self, permitted: Permitted, run: RunHandle) -> Called<'_> {
        Box::pin(async move { self.answer(permitted, run).await.map(Outcome::Complete) })
    }
}

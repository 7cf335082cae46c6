//! Answers that are too long for a client: cut, and kept whole as a resource for who got them.

mod cut;
mod keep;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use toolgate_host::Clock;
use toolgate_wire::{Raw, Version};

use crate::guard::broken;
use crate::seal::random_bytes;
use crate::store::SharedStore;
use crate::view::resource_not_found;
use crate::{
    Called, Error, Kind, Listing, Offers, Outcome, Permitted, Principal, Result, Scope, Source, SourceId,
    Target,
};
use cut::Limits;

/// What the URIs of kept answers begin with.
const PREFIX: &str = "toolgate://results/";

/// How many bytes of one answer are kept.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// How long it may take to keep an answer.
const KEEPING: Duration = Duration::from_secs(5);

/// Answers that were cut, kept in the store for whoever reads them on whichever replica.
pub(crate) struct Results {
    id: SourceId,
    store: SharedStore,
    clock: Clock,
}

/// What has to be known of a tool to cut its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuttable {
    /// Whether the caller expects `structuredContent`, because the definition it was given promises that.
    pub(crate) promises_structure: bool,
}

impl Results {
    pub(crate) fn new(store: SharedStore, clock: Clock) -> Arc<Self> {
        Arc::new(Self { id: SourceId::new("results"), store, clock })
    }

    /// Whether this is the URI of a kept answer.
    pub(crate) fn owns(uri: &str) -> bool {
        uri.starts_with(PREFIX)
    }

    /// The answer as it goes out: cut where it is too long, and then kept whole. An answer that cannot be kept is not
    /// cut: better too long than lost.
    pub(crate) async fn shorten(
        &self,
        outcome: Outcome,
        limit: usize,
        (tool, principal, version): (Cuttable, &Principal, Version),
    ) -> Outcome {
        let Outcome::Complete(result) = outcome else { return outcome };
        let shortening = AssertUnwindSafe(self.shortened(&result, limit, (tool, principal, version)));
        // The call is over, and what ends calls no longer does: nobody must wait for a store that hangs.
        let shortened = match tokio::time::timeout(KEEPING, shortening.catch_unwind()).await {
            Ok(shortened) => shortened.unwrap_or_else(|panic| Err(broken("store", &*panic))),
            Err(_) => Err(Error::new(Kind::Timeout, "the store did not keep it in time")),
        };
        match shortened {
            Ok(None) => Outcome::Complete(result),
            Ok(Some(short)) => Outcome::Complete(short),
            Err(error) => {
                tracing::warn!("an answer is longer than `output.limit` and goes out whole: {error:?}");
                Outcome::Complete(result)
            }
        }
    }

    async fn shortened(
        &self,
        result: &Raw,
        limit: usize,
        (tool, principal, version): (Cuttable, &Principal, Version),
    ) -> Result<Option<Raw>> {
        // No text is longer than the JSON it is written in.
        if result.as_bytes().len() <= limit {
            return Ok(None);
        }
        let id: String = random_bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let limits = Limits {
            text: limit,
            structure: (!tool.promises_structure).then_some(limit),
            kept: MOST_BYTES,
            // Older clients do not know links, and some refuse what they do not know.
            links: version >= Version::V2025_06_18,
        };
        let Some(cut) = cut::cut(result, &limits, &format!("{PREFIX}{id}")) else { return Ok(None) };
        self.keep(&id, principal, &cut.whole).await?;
        Ok(Some(cut.short))
    }

    async fn read(&self, uri: &str, principal: &Principal) -> Result<Outcome> {
        let id = uri.strip_prefix(PREFIX).unwrap_or_default();
        // Who may not read it and who made it up are told the same.
        let whole = self.kept(id, principal).await?.ok_or_else(|| {
            resource_not_found(uri)
                .hint("it is kept for an hour, for who got the answer; call the tool again")
        })?;
        Ok(Outcome::Complete(whole.contents(uri)))
    }
}

impl Source for Results {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offers(&self) -> Offers {
        Offers { resources: true, ..Offers::default() }
    }

    /// Nothing: an answer is nobody's but its caller's, who has the link.
    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        watch::channel(Arc::default()).1
    }

    fn call(&self, permitted: Permitted, _: crate::RunHandle) -> Called<'_> {
        Box::pin(async move {
            let Target::Resource(uri) = permitted.target() else {
                return Err(Error::new(Kind::UnknownMethod, "a kept answer can only be read"));
            };
            self.read(uri, permitted.principal()).await
        })
    }
}

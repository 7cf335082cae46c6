//! An upstream whose table cannot be used: it shows with what is wrong, and has nothing.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_core::{
    Called, ConnectionId, Error, Kind, Listing, Offers, Permitted, RunHandle, Scope, Source, SourceId,
    SourceState, SourceStatus,
};
use toolgate_upstream::{BadConfig, Watches};

/// An upstream whose table cannot be used.
pub(super) struct Misconfigured {
    id: SourceId,
    status: SourceStatus,
    listing: watch::Sender<Arc<Listing>>,
    /// What clients watched, and will again once its table is mended.
    pub(super) watches: Watches,
}

impl Misconfigured {
    pub(super) fn new(name: &str, error: &BadConfig, watches: Watches) -> Self {
        Self {
            id: SourceId::new(name),
            status: status(name, error),
            listing: watch::channel(Arc::default()).0,
            watches,
        }
    }
}

/// How it stands.
pub(super) fn status(name: &str, error: &BadConfig) -> SourceStatus {
    SourceStatus {
        name: name.to_owned(),
        state: SourceState::Failed,
        error: Some(error.to_string()),
        hint: Some(error.hint().to_owned()),
        ..SourceStatus::default()
    }
}

impl Source for Misconfigured {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn is_foreign(&self) -> bool {
        true
    }

    /// It may have anything once its table is mended.
    fn offers(&self) -> Offers {
        Offers { tools: true, resources: true, prompts: true, completions: true, tasks: false }
    }

    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        self.listing.subscribe()
    }

    fn status(&self) -> Option<SourceStatus> {
        Some(self.status.clone())
    }

    fn left(&self, connection: ConnectionId) {
        self.watches.left(connection);
    }

    fn let_go(&self, connection: ConnectionId, uri: &str) {
        self.watches.let_go(connection, uri);
    }

    fn call(&self, _: Permitted, _: RunHandle) -> Called<'_> {
        let error = Error::new(Kind::ConnectionFailed, format!("`{}` cannot be used", self.id))
            .hint(format!("`toolgate mcp status {}` tells why", self.id));
        Box::pin(async move { Err(error) })
    }
}

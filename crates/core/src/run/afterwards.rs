//! A word to a client after its call has ended.

use std::sync::{Arc, Weak};

use toolgate_wire::Raw;

use crate::hub::Inner;
use crate::{Change, ConnectionId, Notice, Scope};

/// The way to the client of a call that may have ended, for as long as it stays connected.
#[derive(Debug, Clone)]
pub struct Afterwards {
    // A source keeps it, and the hub keeps its sources.
    hub: Weak<Inner>,
    scope: Scope,
    connection: ConnectionId,
}

impl Afterwards {
    pub(super) fn new(hub: &Arc<Inner>, scope: Scope, connection: ConnectionId) -> Self {
        Self { hub: Arc::downgrade(hub), scope, connection }
    }

    /// Its connection.
    pub fn connection(&self) -> ConnectionId {
        self.connection
    }

    /// Sends a notification, where the client is still there.
    pub fn tell(&self, method: &str, params: Raw) {
        let Some(hub) = self.hub.upgrade() else { return };
        let Ok(params) = hub.filters.page(params) else { return };
        if !hub.filters.lets_pass(method) {
            tracing::warn!("a notification was left out, since a filter would change its method");
            return;
        }
        let (scope, connection) = (self.scope.clone(), self.connection);
        let notice = Notice { scope, connection, method: method.into(), params };
        // Without listeners there is nobody to tell.
        drop(hub.changes.send(Change::Told(Arc::new(notice))));
    }
}

//! What people see of a hub, and what they do to it by hand.

use std::borrow::Cow;
use std::time::Duration;

use toolgate_wire::Raw;

use crate::{ByHand, ClientName, Hub, Principal, Result};

impl Hub {
    /// JSON as people may see it: it passes the filters, as all does that leaves.
    ///
    /// # Errors
    /// A filter broke down; then nothing may leave.
    pub fn filtered(&self, json: Raw) -> Result<Raw> {
        self.inner.filters.page(json)
    }

    /// What a client calls itself in its `clientInfo` object, as it may be shown and recorded. Names pass the filters
    /// here, so that nobody has to filter them again.
    pub fn client_name(&self, info: &Raw) -> Option<ClientName> {
        ClientName::read(info, &self.inner.filters)
    }

    /// Plain text as people may see it; nothing of it where a filter broke down.
    pub fn filtered_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.inner.filters.clean(text)
    }

    /// Records what a person changed by hand, as calls are recorded: as the method `what`.
    pub fn record_change(&self, principal: &Principal, what: &str, outcome: &'static str, took: Duration) {
        let Some(recorder) = &self.inner.recorder else { return };
        let (time_ms, name) = (self.inner.clock.unix_ms(), self.inner.filters.clean(what));
        ByHand { time_ms, principal, name: &name, outcome, took }.record(&**recorder);
    }
}

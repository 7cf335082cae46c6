//! How a person is asked.

use std::num::NonZeroU64;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::AskBy;

/// How a person is asked before a call goes on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ApprovalsConfig {
    /// Where a person is asked, in order: in the `client` that calls, then in the `inbox` of `toolgate approvals`.
    pub(crate) ask: Vec<Way>,
    /// For how many seconds a call waits for the inbox before it tells its caller to come back. Many clients give up
    /// after 60.
    pub(crate) wait_seconds: u64,
    /// For how many minutes a question, and the answer to it, counts.
    pub(crate) expire_minutes: NonZeroU64,
}

/// Where a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Way {
    /// In the client that calls.
    Client,
    /// In the inbox.
    Inbox,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        Self {
            ask: vec![Way::Client, Way::Inbox],
            wait_seconds: 45,
            expire_minutes: const { NonZeroU64::new(60).unwrap() },
        }
    }
}

impl ApprovalsConfig {
    pub(crate) fn ways(&self) -> Vec<AskBy> {
        let way = |way: &Way| match way {
            Way::Client => AskBy::Client,
            Way::Inbox => AskBy::Inbox,
        };
        self.ask.iter().map(way).collect()
    }

    pub(crate) fn wait(&self) -> Duration {
        Duration::from_secs(self.wait_seconds)
    }

    pub(crate) fn expire(&self) -> Duration {
        Duration::from_secs(self.expire_minutes.get().saturating_mul(60))
    }
}

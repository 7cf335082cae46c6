//! What can be set for the admin page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for the admin page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdminConfig {
    /// Whether there are `/admin` and `/admin/api`, where `toolgate serve` speaks over HTTP.
    pub enabled: bool,
    /// Whether the page may be used from other machines without TLS. Passwords and cookies then pass in the clear; better
    /// is a proxy with TLS in front, whose address is `http.public_url`.
    pub plain_http: bool,
    /// After how many minutes a login ends that is not used.
    #[schemars(range(min = 1, max = 525_600))]
    pub idle_minutes: u32,
    /// After how many hours a login ends, used or not.
    #[schemars(range(min = 1, max = 8_760))]
    pub login_hours: u32,
}

impl Default for AdminConfig {
    fn default() -> Self {
        Self { enabled: true, plain_http: false, idle_minutes: 60, login_hours: 12 }
    }
}

/// By which addresses the page is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Names, besides those of this machine's loopback, by which it may be addressed.
    pub hosts: Vec<String>,
    /// The address by which it is reached where a proxy stands before it.
    pub public_url: Option<String>,
}

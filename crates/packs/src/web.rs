//! The pack `web`: pages of the web, as text that a model can read.
//!
//! Where it may reach is up to the fetcher of `toolgate-host`; what a page shows to people, and no more, is up to
//! `html`.

mod charset;
mod config;
mod failure;
mod fetch;
mod html;
mod kept;
mod kind;
mod page;

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::{AnyTool, HostPattern, Offers, Pack, tool};
use toolgate_host::outbound::{FetchLimits, Fetcher, Lookup, Reach};

use kept::Kept;

pub use config::WebConfig;

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// Pages of the web.
#[derive(Debug)]
pub struct Web {
    fetcher: Fetcher,
    kept: Kept,
}

impl Web {
    /// Pages from where the configuration lets it reach.
    pub fn new(config: &WebConfig) -> Self {
        let reach = Reach {
            allow: HostPattern::rules(&config.allow_hosts),
            deny: HostPattern::rules(&config.deny_hosts),
        };
        let limits = FetchLimits {
            time: Duration::from_millis(config.timeout_ms),
            bytes: usize::try_from(config.max_bytes).unwrap_or(usize::MAX),
            redirects: REDIRECTS,
        };
        Self { fetcher: Fetcher::new(reach, limits), kept: Kept::default() }
    }

    /// The same, with names looked up elsewhere than the machine does.
    #[must_use]
    pub fn with_lookup(self, lookup: Arc<dyn Lookup>) -> Self {
        Self { fetcher: self.fetcher.with_lookup(lookup), ..self }
    }
}

impl Pack for Web {
    const NAME: &'static str = "web";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(fetch::WebFetch)]
    }

    fn offers() -> Offers {
        Offers { tools: true, ..Offers::default() }
    }
}

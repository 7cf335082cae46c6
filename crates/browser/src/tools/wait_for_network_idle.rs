//! `wait_for_network_idle`: wait until the page asks for nothing any more.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::reply::{Acted, Told};

pub(super) struct WaitForNetworkIdle;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Milliseconds without a request (500).
    #[serde(default)]
    #[schemars(with = "u64")]
    idle: Option<u64>,
    /// Which browser, if you have several.
    #[serde(default)]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// Milliseconds to wait at most (30000).
    #[serde(default)]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for WaitForNetworkIdle {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "wait_for_network_idle",
        title: "Wait for the network",
        description: "Wait until the page asks for nothing any more.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, 30_000)?;
        let idle = Duration::from_millis(input.idle.unwrap_or(500).min(60_000));
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let (before, end) = (page.before(), Instant::now() + limit);
        loop {
            let quiet = page.tab.state().network.quiet_since();
            let now = Instant::now();
            match quiet.map(|since| since + idle) {
                Some(at) if at <= now => break,
                Some(at) if at <= end => tokio::time::sleep(at - now).await,
                _ if now < end => drop(page.tab.until(end, |state| state.network.quiet_since()).await),
                _ => {
                    let open = page.tab.state().network.under_way();
                    let words = format!("waited {} ms for the network; {open} requests are under way", limit.as_millis());
                    return Err(Error::new(Kind::Timeout, words).hint("call `inspect_network` to see which"));
                }
            }
        }
        Ok(page.acted(pack.config.text, before, "the network is idle".into()).await)
    }
}

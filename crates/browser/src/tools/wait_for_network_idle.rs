//! `wait_for_network_idle`: wait until the page asks for nothing any more.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::reply::{Acted, Told};
use crate::tab::{Halt, State};
use crate::text::brief;

pub(super) struct WaitForNetworkIdle;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// In ms (500).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    idle: Option<u64>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for WaitForNetworkIdle {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "wait_for_network_idle",
        title: "Network idle",
        description: "Wait until nothing is requested.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, 30_000)?;
        let idle = Duration::from_millis(input.idle.unwrap_or(500).min(60_000));
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let (before, end) = (page.before(), Instant::now() + limit);
        loop {
            let (quiet, gone) = {
                let state = page.tab.state();
                let crashed = state.crashed.then_some(Halt::Crashed);
                (state.network.quiet_since(), state.closed.then_some(Halt::Closed).or(crashed))
            };
            if let Some(gone) = gone {
                return Err(gone.into());
            }
            let now = Instant::now();
            match quiet.map(|since| since + idle) {
                Some(at) if at <= now => break,
                Some(at) if now < end => tokio::time::sleep(at.min(end) - now).await,
                None if now < end => {
                    let over =
                        |state: &State| (state.closed || state.network.quiet_since().is_some()).then_some(());
                    page.tab.until(end, over).await;
                }
                Some(_) | None => {
                    let open = page.tab.state().network.under_way();
                    return Err(late(limit, idle, &open));
                }
            }
        }
        Ok(page.acted(pack.config.text, before, "the network is idle".into()).await)
    }
}

fn late(limit: Duration, idle: Duration, open: &[String]) -> Error {
    let waited =
        format!("waited {} ms for the network to be idle for {} ms", limit.as_millis(), idle.as_millis());
    match open.first() {
        Some(first) => {
            let words =
                format!("{waited}; {} requests are under way, such as {}", open.len(), brief(first, 200));
            Error::new(Kind::Timeout, words).hint("call `inspect_network` to see which")
        }
        None => Error::new(Kind::Timeout, waited).hint("raise `timeout`, or ask for less with `idle`"),
    }
}

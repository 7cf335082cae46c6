//! `press_key`: press a key, such as `Enter` or `Control+A`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Needs, What};
use crate::keys::Press;
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct PressKey;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Such as `Control+A`.
    key: String,
    /// What to focus.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for PressKey {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "press_key",
        title: "Key",
        description: "Press a key.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let press = Press::parse(&input.key)?;
        let what = What::maybe(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        if let Some(what) = &what {
            let see = Needs { enabled: true, ..Needs::SEE };
            let ready = page.tab.ready(what, see, limit).await?;
            page.tab.on(&What::Ref(ready.reference), ("focus", json!({})), Duration::from_secs(10)).await?;
        }
        let pressed = async {
            page.tab.press(&press).await?;
            page.tab.settle(limit).await
        };
        or_dialog(pressed.await)?;
        Ok(page
            .acted(pack.config.text, before, format!("pressed {}", crate::text::brief(&input.key, 40)))
            .await)
    }
}

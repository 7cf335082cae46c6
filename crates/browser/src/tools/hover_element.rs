//! `hover_element`: move the mouse onto an element.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Needs, What};
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct HoverElement;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Element ref.
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

impl Tool<Browser> for HoverElement {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "hover_element",
        title: "Hover",
        description: "Hover over an element.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::of(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let ready = page.tab.ready(&what, Needs::HOVER, limit).await?;
        let hovered = async {
            page.tab.move_to((ready.x, ready.y)).await?;
            page.tab.settle(limit).await
        };
        or_dialog(hovered.await)?;
        Ok(page
            .acted(pack.config.text, before, format!("hovers over {} {}", ready.name, ready.reference))
            .await)
    }
}

//! `drag_and_drop`: drag one element onto another.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Needs, What};
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct DragAndDrop;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What to drag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    source_ref: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    source_selector: Option<String>,
    /// Where to drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    target_ref: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    target_selector: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for DragAndDrop {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "drag_and_drop",
        title: "Drag",
        description: "Drag one element onto another.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let source = What::of(input.source_ref, input.source_selector)?;
        let target = What::of(input.target_ref, input.target_selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let to = page.tab.ready(&target, Needs::HOVER, limit).await?;
        let from = page.tab.ready(&source, Needs::HOVER, limit).await?;
        // Bringing one into view may have moved the other.
        let to =
            page.tab.ready(&What::Ref(to.reference), Needs { hit: false, ..Needs::HOVER }, limit).await?;
        let from =
            page.tab.ready(&What::Ref(from.reference), Needs { hit: false, ..Needs::HOVER }, limit).await?;
        let dragged = async {
            page.tab.drag((from.x, from.y), (to.x, to.y)).await?;
            page.tab.settle(limit).await
        };
        or_dialog(dragged.await)?;
        Ok(page.acted(pack.config.text, before, format!("dragged {} onto {}", from.name, to.name)).await)
    }
}

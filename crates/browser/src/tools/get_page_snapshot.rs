//! `get_page_snapshot`: see the page as text, with a ref for everything that can be acted on.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use super::seeing::{Mode, View, see};
use crate::acting::What;
use crate::pack::Browser;

pub(super) struct GetPageSnapshot;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Default full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Mode")]
    mode: Option<Mode>,
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// Levels to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    depth: Option<u32>,
    /// Only changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    diff: bool,
    /// Default 20000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    max_chars: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for GetPageSnapshot {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_page_snapshot",
        title: "Snapshot",
        description: "See the page as text with refs.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let scope = What::maybe(input.reference, input.selector)?;
        let id = input.browser_id.as_deref();
        let page = if scope.is_some() { pack.page(run, id).await? } else { pack.any_page(run, id).await? };
        let view = View {
            mode: input.mode.unwrap_or_default(),
            scope,
            depth: input.depth.unwrap_or(0),
            most: input.max_chars.unwrap_or(20_000),
        };
        see(&page, &view, input.diff).await.map(Text)
    }
}

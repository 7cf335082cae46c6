//! `fill_text`: put text into a field, once it can be typed into.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::acting::What;
use crate::keys::Press;
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct FillText;

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
    /// Text; `true` for a box.
    text: String,
    /// Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    clear_first: Option<bool>,
    /// Press Enter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    submit: bool,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for FillText {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "fill_text",
        title: "Type",
        description: "Put text into a field.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::of(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let filled = page.tab.fill(&what, &input.text, input.clear_first.unwrap_or(true), limit).await;
        let filled = or_dialog(filled)?;
        if input.submit {
            let submitted = async {
                page.tab.press(&Press::parse("Enter")?).await?;
                page.tab.settle(limit).await
            };
            or_dialog(submitted.await)?;
        }
        let did = format!("filled {} with {:?}", filled.name, filled.value);
        Ok(page.acted(pack.config.text, before, did).await)
    }
}

//! `get_html`: get the HTML of the page or of an element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use crate::acting::What;
use crate::pack::Browser;
use crate::text::{MOST, cut, fenced};

pub(super) struct GetHtml;

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
    /// Default 20000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    max_chars: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for GetHtml {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_html",
        title: "HTML",
        description: "Get HTML of the page or an element.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let what = What::maybe(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let limit = Duration::from_secs(30);
        let most = json!({"most": MOST});
        let told = match &what {
            Some(what) => page.tab.on(what, ("html", most), limit).await?.1,
            None => page.tab.run(&page.tab.main_spot(), ("page", most), limit).await?,
        };
        let html = told["html"].as_str().unwrap_or_default();
        let (shown, is_whole) = cut(html, input.max_chars.unwrap_or(20_000));
        let total = told["length"].as_u64().unwrap_or_default();
        let mark = if is_whole && total <= MOST as u64 {
            String::new()
        } else {
            format!(
                "\ntruncated: shown {} of {total} characters; name an element for a part",
                shown.chars().count()
            )
        };
        Ok(Text(format!("{}{mark}", fenced(shown))))
    }
}

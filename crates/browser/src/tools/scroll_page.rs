//! `scroll_page`: scroll the page or an element, or an element into view.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::acting::What;
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct ScrollPage;

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
    /// Pixels right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = -1_000_000))]
    x: Option<f64>,
    /// Pixels down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = -1_000_000))]
    y: Option<f64>,
    /// Or to an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "End")]
    to: Option<End>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum End {
    Top,
    Bottom,
}

impl Tool<Browser> for ScrollPage {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "scroll_page",
        title: "Scroll",
        description: "Scroll the page, an element, or one into view.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::maybe(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let limit = Duration::from_secs(20);
        let mut how = json!({"x": input.x.unwrap_or(0.0), "y": input.y.unwrap_or(0.0)});
        if let Some(end) = input.to {
            how["to"] = json!(end);
        } else if what.is_none() && input.x.is_none() && input.y.is_none() {
            // Without a word it goes on by a window.
            how["y"] = (f64::from(page.instance.options.height) * 0.9).into();
        }
        let scrolled = async {
            let told = match &what {
                Some(what) => page.tab.on(what, ("scroll", how), limit).await?.1,
                None => page.tab.run(&page.tab.main_spot(), ("scroll", how), limit).await?,
            };
            page.tab.settle(limit).await?;
            Ok(told)
        };
        let at = or_dialog(scrolled.await)?;
        let did = format!("scrolled to {}, {} of {} pixels", at["x"], at["y"], at["height"]);
        Ok(page.acted(pack.config.text, before, did).await)
    }
}

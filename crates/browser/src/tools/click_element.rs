//! `click_element`: click an element once it is visible, still, enabled and reached.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Click, Needs, What};
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct ClickElement;

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
    /// Default left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Button")]
    button: Option<Button>,
    /// Click twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    double_click: bool,
    /// Such as Shift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    modifiers: Option<Vec<String>>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

impl Tool<Browser> for ClickElement {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "click_element",
        title: "Click",
        description: "Click an element.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::of(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let click = Click {
            button: match input.button.unwrap_or_default() {
                Button::Left => "left",
                Button::Right => "right",
                Button::Middle => "middle",
            },
            count: if input.double_click { 2 } else { 1 },
            modifiers: held(&input.modifiers.unwrap_or_default())?,
        };
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let ready = page.tab.ready(&what, Needs::CLICK, limit).await?;
        let clicked = async {
            page.tab.click_at((ready.x, ready.y), &click).await?;
            page.tab.settle(limit).await
        };
        or_dialog(clicked.await)?;
        Ok(page.acted(pack.config.text, before, format!("clicked {} {}", ready.name, ready.reference)).await)
    }
}

fn held(keys: &[String]) -> Result<u32> {
    keys.iter().try_fold(0, |held, key| {
        let bit = crate::keys::modifier(key).ok_or_else(|| {
            Error::new(Kind::InvalidInput, format!("`modifiers` holds `{}`", crate::text::brief(key, 40)))
                .hint("give Alt, Control, Meta or Shift")
        })?;
        Ok(held | bit)
    })
}

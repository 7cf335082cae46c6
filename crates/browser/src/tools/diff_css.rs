//! `diff_css`: compare the styles of an element with those that it should have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::styling::{LONG, computed};
use crate::acting::What;
use crate::pack::Browser;
use crate::text::{Room, brief};

pub(super) struct DiffCss;

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
    /// Values by property, as they should be.
    baseline: BTreeMap<String, String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Whether there is no difference.
    same: bool,
    /// The differences.
    items: Vec<Item>,
    /// Whether some did not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    /// The property.
    property: String,
    /// The value that it should have.
    expected: String,
    /// The value that it has.
    actual: String,
}

impl Tool<Browser> for DiffCss {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "diff_css",
        title: "Compare CSS",
        description: "Compare the styles of an element with those that it should have.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let names: Vec<String> = input.baseline.keys().take(300).cloned().collect();
        let now: BTreeMap<String, String> = computed(&page, &what, &names).await?.into_iter().collect();
        let (mut items, mut room, mut truncated) = (Vec::new(), Room::new(), false);
        for property in names {
            let expected = input.baseline[&property].trim();
            let actual = now.get(&property).map(String::as_str).unwrap_or_default();
            if expected == actual {
                continue;
            }
            let (expected, actual) = (brief(expected, LONG), brief(actual, LONG));
            if !room.takes(&[&property, &expected, &actual]) {
                truncated = true;
                break;
            }
            items.push(Item { property, expected, actual });
        }
        Ok(Json(Output { same: items.is_empty() && !truncated, items, truncated }))
    }
}

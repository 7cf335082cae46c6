//! `get_applicable_rules`: get the declarations that are about an element, the weakest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::styling::{Declared, declared};
use crate::acting::What;
use crate::pack::Browser;
use crate::text::Room;

pub(super) struct GetApplicableRules;

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
    /// Only these properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    properties: Option<Vec<String>>,
    /// How many (50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    limit: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The declarations.
    items: Vec<Declared>,
    /// How many there are.
    total: usize,
}

impl Tool<Browser> for GetApplicableRules {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_applicable_rules",
        title: "Rules that apply",
        description: "Get the declarations that are about an element, the weakest first.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let mut items = declared(&page, &what).await?;
        if let Some(properties) = &input.properties {
            items.retain(|item| properties.iter().any(|property| item.is_about(property)));
        }
        let total = items.len();
        // The strongest are what matters.
        let (most, mut room) = (input.limit.unwrap_or(50).clamp(1, 200), Room::new());
        let fits = |item: &&Declared| {
            // Its other keys and numbers cost as much as a text each.
            room.takes(&[&item.property, &item.value, &item.selector, &item.origin, "", "", "", "", "", ""])
        };
        let count = items.iter().rev().take(most).take_while(fits).count();
        Ok(Json(Output { items: items.split_off(total - count), total }))
    }
}

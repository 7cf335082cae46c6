//! `get_computed_styles`: get the styles that count for an element in the end.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::styling::{LONG, computed};
use crate::acting::What;
use crate::pack::Browser;
use crate::text::{Room, brief};

pub(super) struct GetComputedStyles;

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
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Values by property.
    styles: BTreeMap<String, String>,
    /// Whether some did not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Tool<Browser> for GetComputedStyles {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_computed_styles",
        title: "Computed styles",
        description: "Get the styles that count for an element in the end.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let styles = computed(&page, &what, &input.properties.unwrap_or_default()).await?;
        let (count, mut room) = (styles.len(), Room::new());
        let styles: BTreeMap<String, String> = styles
            .into_iter()
            .map(|(name, value)| (name, brief(&value, LONG)))
            .take_while(|(name, value)| room.takes(&[name, value]))
            .collect();
        Ok(Json(Output { truncated: styles.len() < count, styles }))
    }
}

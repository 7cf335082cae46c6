//! `get_attribute`: get attributes of an element, its state and its box.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::What;
use crate::pack::Browser;
use crate::text::{Room, harmless};

pub(super) struct GetAttribute;

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
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    attribute: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Output {
    /// Its attributes, and what is typed or chosen in it as `value`.
    attributes: BTreeMap<String, String>,
    /// Whether some did not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// The role of it.
    role: String,
    /// Its name, as people see it.
    name: String,
    /// How it is now.
    state: State,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct State {
    /// Whether it is shown.
    visible: bool,
    /// Whether it can be used.
    enabled: bool,
    /// Whether it is checked.
    checked: bool,
    /// Whether it has the focus.
    focused: bool,
    /// Whether something can be typed into it.
    editable: bool,
    /// Where it is in the window of its frame, in pixels.
    #[serde(rename = "box")]
    area: Area,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Area {
    /// Pixels from the left.
    x: f64,
    /// Pixels from the top.
    y: f64,
    /// How wide it is.
    width: f64,
    /// How high it is.
    height: f64,
}

impl Tool<Browser> for GetAttribute {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_attribute",
        title: "Attributes",
        description: "Get attributes, state and box of an element.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let wanted = json!({"name": input.attribute});
        let (_, told) = page.tab.on(&what, ("attributes", wanted), Duration::from_secs(20)).await?;
        let output: serde_json::Result<Output> = serde_json::from_value(told);
        let Output { attributes, role, name, state, .. } = output
            .map_err(|error| Error::new(Kind::Internal, "the element cannot be told").because(error))?;
        let (count, mut room) = (attributes.len(), Room::new());
        let attributes: BTreeMap<String, String> = attributes
            .into_iter()
            .map(|(name, value)| (harmless(&name), harmless(&value)))
            .take_while(|(name, value)| room.takes(&[name, value]))
            .collect();
        let truncated = attributes.len() < count;
        Ok(Json(Output { attributes, truncated, role: harmless(&role), name: harmless(&name), state }))
    }
}

//! `analyze_specificity`: say for each property of an element which declaration wins, and against which.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::styling::{Declared, declared};
use crate::acting::What;
use crate::pack::Browser;
use crate::text::Room;

pub(super) struct AnalyzeSpecificity;

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
    /// Only properties that are declared twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    conflicts_only: bool,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The properties.
    items: Vec<Item>,
    /// Whether some did not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    /// The property.
    property: String,
    /// The declaration that counts.
    winner: String,
    /// Those that do not, the strongest first.
    losers: Vec<String>,
}

impl Tool<Browser> for AnalyzeSpecificity {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "analyze_specificity",
        title: "Specificity",
        description: "Say for each property of an element which declaration wins, and against which.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let mut by: BTreeMap<String, Vec<Declared>> = BTreeMap::new();
        for one in declared(&page, &what).await? {
            by.entry(one.property.clone()).or_default().push(one);
        }
        if let Some(properties) = &input.properties {
            by.retain(|_, all| properties.iter().any(|wanted| all[0].is_about(wanted)));
        }
        by.retain(|_, all| !input.conflicts_only || all.len() > 1);
        let item = |(property, mut all): (String, Vec<Declared>)| {
            all.sort_by_key(|declared| std::cmp::Reverse(declared.strength()));
            let mut shown = all.iter().take(20).map(Declared::shown);
            Item { property, winner: shown.next().unwrap_or_default(), losers: shown.collect() }
        };
        let (count, mut room) = (by.len(), Room::new());
        let fits = |item: &Item| {
            let losers = item.losers.iter().map(String::as_str);
            let texts: Vec<&str> = [item.property.as_str(), &item.winner].into_iter().chain(losers).collect();
            room.takes(&texts)
        };
        let items: Vec<Item> = by.into_iter().take(100).map(item).take_while(fits).collect();
        Ok(Json(Output { truncated: items.len() < count, items }))
    }
}

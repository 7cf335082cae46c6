//! `select_option`: choose options of a list, by label, value or place.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::{Needs, What};
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct SelectOption;

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
    /// Labels or values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    values: Option<Vec<String>>,
    /// Or one, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    index: Option<u32>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for SelectOption {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "select_option",
        title: "Choose",
        description: "Choose options by label, value or place.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let what = What::of(input.reference, input.selector)?;
        let limit = Browser::limit(input.timeout, 5000)?;
        let wanted = match (input.values, input.index) {
            (Some(values), None) => json!({"values": values}),
            (None, Some(index)) => json!({"indexes": [index]}),
            (Some(_), Some(_)) | (None, None) => {
                return Err(
                    Error::new(Kind::InvalidInput, "give `values` or `index`").hint("give one of them")
                );
            }
        };
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let needs = Needs { enabled: true, ..Needs::SEE };
        let ready = page.tab.ready(&what, needs, limit).await?;
        let this = What::Ref(ready.reference.clone());
        let chosen = async {
            let (_, told) = page.tab.on(&this, ("choose", wanted), Duration::from_secs(20)).await?;
            page.tab.settle(limit).await?;
            Ok(told)
        };
        let told = or_dialog(chosen.await)?;
        let labels: Vec<&str> =
            told["chosen"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let did = format!("chose {:?} in {} {}", labels.join(", "), ready.name, ready.reference);
        Ok(page.acted(pack.config.text, before, did).await)
    }
}

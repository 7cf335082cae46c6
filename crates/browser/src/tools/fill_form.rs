//! `fill_form`: fill in several fields, one after the other.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::What;
use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct FillForm;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The fields.
    fields: Vec<Field>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Field {
    /// Element ref.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reference: Option<String>,
    /// CSS selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    selector: Option<String>,
    /// What to put.
    value: String,
}

impl Tool<Browser> for FillForm {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "fill_form",
        title: "Fill in",
        description: "Fill in several fields.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, 5000)?;
        if input.fields.is_empty() || input.fields.len() > 100 {
            return Err(
                Error::new(Kind::InvalidInput, "`fields` is empty or too long").hint("give 1 to 100 fields")
            );
        }
        // All are named right before the first is touched.
        let fields: Vec<(What, String)> = input
            .fields
            .into_iter()
            .map(|field| Ok((What::of(field.reference, field.selector)?, field.value)))
            .collect::<Result<_>>()?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let mut done = Vec::new();
        for (what, value) in &fields {
            let filled = page.tab.fill(what, value, true, limit).await;
            let filled = or_dialog(filled).map_err(|error| after(error, &done))?;
            done.push(format!("{} with {:?}", filled.name, filled.value));
        }
        Ok(page.acted(pack.config.text, before, format!("filled {}", done.join(", "))).await)
    }
}

/// Says what was done before it went wrong.
fn after(error: Error, done: &[String]) -> Error {
    if done.is_empty() {
        return error;
    }
    let words = format!("{}; filled before: {}", error.message(), done.join(", "));
    let hint = error.next_step().unwrap_or("call `get_page_snapshot` to see what is there").to_owned();
    Error::new(error.kind(), words).hint(hint).because(error)
}

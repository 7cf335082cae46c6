//! `extract_css`: write the styles of an element as CSS, without those that every browser has.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use super::styling::own;
use crate::acting::What;
use crate::pack::Browser;
use crate::text::{cut, fenced};

pub(super) struct ExtractCss;

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
    /// At most (20000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    max_chars: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for ExtractCss {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "extract_css",
        title: "Extract CSS",
        description: "Write the styles of an element as CSS, without those that every browser has.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let what = What::of(input.reference, input.selector)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let styles = own(&page, &what, &input.properties.unwrap_or_default()).await?;
        let lines: Vec<String> = styles.iter().map(|(name, value)| format!("  {name}: {value};")).collect();
        let name = match &what {
            What::Selector(selector) => selector.clone(),
            What::Ref(reference) => format!(".{reference}"),
        };
        let css = format!("{name} {{\n{}\n}}", lines.join("\n"));
        let (shown, is_whole) = cut(&css, input.max_chars.unwrap_or(20_000));
        let mark = if is_whole { "" } else { "\ntruncated: name the `properties` that matter" };
        Ok(Text(format!("{}{mark}", fenced(shown))))
    }
}

//! `find_in_page`: find text in the page, with the refs that are there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Text, Tool, ToolSpec};

use crate::pack::Browser;
use crate::tab::Halt;
use crate::text::{brief, fenced, fitting};

pub(super) struct FindInPage;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// In any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
    /// Or a JavaScript pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    regex: Option<String>,
    /// Default 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    limit: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for FindInPage {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "find_in_page",
        title: "Find",
        description: "Find text in the page, with refs.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let wanted = match (&input.text, &input.regex) {
            (Some(text), None) if !text.trim().is_empty() => json!({"text": text}),
            (None, Some(regex)) if !regex.is_empty() => json!({"regex": regex}),
            _ => {
                return Err(Error::new(Kind::InvalidInput, "give `text` or `regex`")
                    .hint("one of them, and not empty"));
            }
        };
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let most = input.limit.unwrap_or(20).clamp(1, 200);
        // A pattern can be such that it takes for ever.
        let patience = Duration::from_secs(if input.regex.is_some() { 10 } else { 30 });
        let (mut lines, mut count) = (Vec::new(), 0);
        for spot in page.tab.spots() {
            let mut args = wanted.clone();
            args["most"] = most.into();
            let told = match page.tab.run(&spot, ("find", args), patience).await {
                // A frame may go while others are searched.
                Err(Halt::Left) if !spot.prefix.is_empty() => continue,
                Err(Halt::Failed(error)) if input.regex.is_some() && error.kind() == Kind::Timeout => {
                    let words = format!("waited {} ms for `regex` to be looked for", patience.as_millis());
                    return Err(Error::new(Kind::Timeout, words)
                        .hint("write a simpler one, without a repetition in a repetition, or give `text`")
                        .because(error));
                }
                told => told?,
            };
            if told["missing"] == "regex" {
                let why = told["why"].as_str().unwrap_or_default();
                return Err(Error::new(
                    Kind::InvalidInput,
                    format!("`regex` cannot be used: {}", brief(why, 200)),
                )
                .hint("write it as JavaScript does"));
            }
            count += told["count"].as_u64().unwrap_or_default();
            lines.extend(told["found"].as_array().into_iter().flatten().map(line));
        }
        lines.truncate(most);
        if lines.is_empty() {
            return Ok(Text("found nowhere".into()));
        }
        let shown = fitting(&lines, 20_000);
        Ok(Text(format!("found in {count} places, shown {}\n{}", shown.len(), fenced(&shown.join("\n")))))
    }
}

fn line(found: &Value) -> String {
    format!("{}: {}", found["at"], found["line"].as_str().unwrap_or_default())
}

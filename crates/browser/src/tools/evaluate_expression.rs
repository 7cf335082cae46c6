//! `evaluate_expression`: run JavaScript in the page, and get its value as JSON.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::config::TextForm;
use crate::downloads::{Downloaded, Shape};
use crate::pack::Browser;
use crate::reply::Told;
use crate::tab::Halt;
use crate::text::{brief, cut, fenced};

pub(super) struct EvaluateExpression;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// JavaScript.
    expression: String,
    /// Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    await_promise: Option<bool>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (10000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// Whether it had a value.
    success: bool,
    /// What kind of value it is.
    kind: String,
    /// The value, as JSON; it comes from the page.
    value: String,
    /// Whether the end of it is left out.
    truncated: bool,
    /// Files that the page handed over: name, state, bytes and uri.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Shape")]
    downloads: Vec<Downloaded>,
}

impl Tool<Browser> for EvaluateExpression {
    type Input = Input;
    type Output = Told<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "evaluate_expression",
        title: "Script",
        description: "Run JavaScript in the page for its value.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Output>> {
        let limit = Browser::limit(input.timeout, 10_000)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let call = json!({
            "expression": input.expression,
            "returnByValue": true,
            "awaitPromise": input.await_promise.unwrap_or(true),
            "userGesture": true,
            // Chromium itself ends what runs for longer.
            "timeout": limit.as_millis() as u64,
        });
        let (begun, downloads) = (Instant::now(), page.begun());
        let told: Result<Value, Halt> =
            page.tab.call(("Runtime.evaluate", call), limit + Duration::from_secs(2)).await;
        let told = match told {
            Ok(told) => told,
            Err(Halt::Failed(error)) if error.kind() == Kind::Timeout => {
                page.tab.tell("Runtime.terminateExecution", json!({}));
                return Err(late(limit));
            }
            // What it stopped, Chromium calls an error of its own.
            Err(Halt::Failed(_)) if begun.elapsed() >= limit => return Err(late(limit)),
            Err(other) => return Err(other.into()),
        };
        let mut output = output(&told)?;
        output.downloads = page.downloaded(downloads).await.items;
        Ok(shown(output, pack.config.text))
    }
}

fn output(told: &Value) -> Result<Output> {
    let details = &told["exceptionDetails"];
    if details.is_object() {
        let described = details["exception"]["description"].as_str().or(details["text"].as_str());
        let thrown =
            described.map_or_else(|| details["exception"]["value"].to_string(), |text| brief(text, 500));
        return Err(Error::new(Kind::InvalidInput, format!("the expression threw: {thrown}"))
            .hint("mend it; it is one expression, or statements whose last value counts"));
    }
    let result = &told["result"];
    let kind = result["subtype"].as_str().or(result["type"].as_str()).unwrap_or("undefined").to_owned();
    let value = match result.get("value") {
        Some(value) => value.to_string(),
        None => result["unserializableValue"]
            .as_str()
            .or(result["description"].as_str())
            .unwrap_or("null")
            .to_owned(),
    };
    let (shown, is_whole) = cut(&value, 20_000);
    Ok(Output { success: true, kind, value: shown.to_owned(), truncated: !is_whole, downloads: Vec::new() })
}

/// The value stands between marks: it is what the page says.
fn shown(output: Output, form: TextForm) -> Told<Output> {
    let links = output.downloads.iter().filter_map(Downloaded::link).collect();
    let line = match form {
        TextForm::Json => as_json(&output),
        TextForm::Line => as_lines(&output),
    };
    // The data is for programs, which need no marks.
    Told { data: output, line, form: TextForm::Line, links }
}

fn as_json(output: &Output) -> String {
    let Output { success, kind, value, truncated, downloads } = output;
    let mut told = json!({"success": success, "kind": kind, "value": fenced(value), "truncated": truncated});
    if !downloads.is_empty() {
        told["downloads"] = json!(downloads);
    }
    format!("{told:#}")
}

fn as_lines(output: &Output) -> String {
    let mut lines = vec![output.kind.clone(), fenced(&output.value)];
    if output.truncated {
        lines.push("truncated: the end of it is left out".into());
    }
    lines.extend(output.downloads.iter().map(Downloaded::shown));
    lines.join("\n")
}

fn late(limit: Duration) -> Error {
    Error::new(Kind::Timeout, format!("the expression was stopped after {} ms", limit.as_millis()))
        .hint("make it shorter, or raise `timeout`; the page goes on")
}

//! `inspect_network`: list requests of the page, or look at one with its headers and body.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Text, Tool, ToolSpec};

use super::numbered::{Wanted, listed};
use crate::pack::Browser;
use crate::pool::Page;
use crate::tab::Request;
use crate::text::{brief, cut, fenced};

pub(super) struct InspectNetwork;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Number of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    id: Option<u64>,
    /// With its body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    body: bool,
    /// Text in the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    url_pattern: Option<String>,
    /// Such as GET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    method: Option<String>,
    /// After this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    since: Option<u64>,
    /// Default 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    limit: Option<usize>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for InspectNetwork {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "inspect_network",
        title: "Network",
        description: "List requests, or look at one.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let page = pack.pool.page(run.principal(), input.browser_id.as_deref()).await?.not_lost()?;
        if let Some(id) = input.id {
            return one(&page, id, input.body).await.map(Text);
        }
        let pattern = input.url_pattern.unwrap_or_default().to_lowercase();
        let is_method = |request: &Request| {
            input.method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(&request.method))
        };
        let wanted = Wanted { since: input.since, limit: input.limit };
        let state = page.tab.state();
        let fits = state
            .network
            .requests
            .iter()
            .filter(|(_, request)| request.url.to_lowercase().contains(&pattern) && is_method(request));
        Ok(listed(fits, &wanted, "requests", line))
    }
}

fn line(number: u64, request: &Request) -> String {
    let outcome = match (&request.status, request.failed.as_str()) {
        (Some(status), failed) if !failed.is_empty() => format!("{status} {failed}"),
        (None, failed) if !failed.is_empty() => failed.to_owned(),
        (Some(status), _) => status.to_string(),
        (None, _) => "pending".into(),
    };
    let bytes = request.bytes.map(|bytes| format!(" {bytes} B")).unwrap_or_default();
    let took = request.took.map(|took| format!(" {took} ms")).unwrap_or_default();
    let Request { method, kind, .. } = request;
    format!("{number} {method} {outcome} {}{bytes}{took} {}", kind.to_lowercase(), brief(&request.url, 300))
}

/// One request, with its headers.
async fn one(page: &Page, id: u64, with_body: bool) -> Result<String> {
    let found = page
        .tab
        .state()
        .network
        .requests
        .iter()
        .find(|(number, _)| *number == id)
        .map(|(_, found)| found.clone());
    let Some(request) = found else {
        return Err(Error::new(Kind::NotFound, format!("there is no request {id}, or it was too long ago"))
            .hint("call `inspect_network` without `id` to see which there are"));
    };
    let headers = |headers: &[(String, String)]| -> String {
        headers.iter().map(|(name, value)| format!("\n  {name}: {value}")).collect()
    };
    let mut text = line(id, &request);
    text.push_str(&format!("\nsent:{}", headers(&request.sent)));
    if !request.body.is_empty() {
        text.push_str(&format!("\nsent body: {}", request.body));
    }
    text.push_str(&format!("\nreceived {}:{}", request.mime, headers(&request.received)));
    if with_body {
        text.push_str(&format!("\nbody:\n{}", body(page, &request).await?));
    }
    let (shown, is_whole) = cut(&text, 40_000);
    let mark = if is_whole { "" } else { "\ntruncated" };
    Ok(format!("{}{mark}", fenced(shown)))
}

async fn body(page: &Page, request: &Request) -> Result<String> {
    let call = ("Network.getResponseBody", json!({"requestId": request.id}));
    let told: Result<Value, _> = page.tab.call_in(&request.session, call, Duration::from_secs(20)).await;
    let told = told.map_err(|halt| {
        Error::new(Kind::NotFound, "the body of the request is not kept")
            .hint("it may be empty, too large, or of a page that was left")
            .because(Error::from(halt))
    })?;
    let text = told["body"].as_str().unwrap_or_default();
    if told["base64Encoded"] != true {
        return Ok(text.to_owned());
    }
    let bytes = STANDARD.decode(text).unwrap_or_default();
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| format!("({} bytes that are no text)", error.as_bytes().len())))
}

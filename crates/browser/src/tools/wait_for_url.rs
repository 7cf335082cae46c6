//! `wait_for_url`: wait until the page has an address.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::reply::{Acted, Told};
use crate::tab::{Halt, State};
use crate::text::brief;

pub(super) struct WaitForUrl;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The whole URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    exact: Option<String>,
    /// Or with `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pattern: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for WaitForUrl {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "wait_for_url",
        title: "Address",
        description: "Wait until the page has an address.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, 30_000)?;
        let wanted = match (input.exact, input.pattern) {
            (Some(exact), None) => Wanted::Exact(exact),
            (None, Some(pattern)) => Wanted::Like(pattern),
            (Some(_), Some(_)) | (None, None) => {
                return Err(Error::new(Kind::InvalidInput, "give `exact` or `pattern`")
                    .hint("give one of them, such as `pattern` = `*/done*`"));
            }
        };
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let end = Instant::now() + limit;
        let fits = |state: &State| {
            let is_there = wanted.fits(&state.url) && !state.loading;
            (is_there || state.closed).then_some(is_there)
        };
        let there = page.tab.until(end, fits).await;
        if there == Some(false) {
            return Err(Halt::Closed.into());
        }
        if there.is_none() {
            let url = brief(&page.tab.state().url, 300);
            let words =
                format!("waited {} ms for the address {}; it is {url}", limit.as_millis(), wanted.shown());
            return Err(
                Error::new(Kind::Timeout, words).hint("call `get_page_snapshot` to see where the page is")
            );
        }
        Ok(page.acted(pack.config.text, before, format!("the address is {}", wanted.shown())).await)
    }
}

enum Wanted {
    Exact(String),
    Like(String),
}

impl Wanted {
    fn fits(&self, url: &str) -> bool {
        match self {
            Self::Exact(exact) => url == exact,
            Self::Like(pattern) => is_like(url, pattern),
        }
    }

    fn shown(&self) -> String {
        let (Self::Exact(text) | Self::Like(text)) = self;
        format!("`{}`", brief(text, 200))
    }
}

/// Whether a text is like a pattern in which `*` stands for any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        #[track_caller]
        fn check(pattern: &str, expect: bool) {
            assert_eq!(is_like("http://a.example/done?x=1", pattern), expect, "{pattern}");
        }
        check("*/done*", true);
        check("http://*", true);
        check("*", true);
        check("http://a.example/done?x=1", true);
        check("*done", false);
        check("done", false);
        check("*x*1*1", false);
        check("", false);
    }
}

//! `launch_browser`: launch a browser of your own: no cookies, storage or pages are shared with others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, HostPattern, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::pool::Launch;
use crate::reply::Told;
use crate::tab::Options;
use crate::text::brief;

pub(super) struct LaunchBrowser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Only chromium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BrowserType")]
    browser_type: Option<BrowserType>,
    /// Always true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    headless: Option<bool>,
    /// Default 1280x720.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Viewport")]
    viewport: Option<Viewport>,
    /// Its user agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    user_agent: Option<String>,
    /// For all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, String>")]
    extra_http_headers: Option<BTreeMap<String, String>>,
    /// Only these hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    allowed_domains: Option<Vec<String>>,
    /// Your name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    label: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BrowserType {
    Chromium,
    Firefox,
    Webkit,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Viewport {
    /// CSS pixels.
    width: u32,
    /// CSS pixels.
    height: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Launched {
    /// Whether it was launched.
    success: bool,
    /// Its id, for all other tools.
    browser_id: String,
    /// What it is.
    browser: String,
    /// The size of its window.
    viewport: Viewport,
}

impl Tool<Browser> for LaunchBrowser {
    type Input = Input;
    type Output = Told<Launched>;
    const SPEC: ToolSpec = ToolSpec {
        name: "launch_browser",
        title: "Launch",
        description: "Launch a browser.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Launched>> {
        let launch = launch(input)?;
        let viewport = Viewport { width: launch.options.width, height: launch.options.height };
        let instance = pack.pool.launch(run.principal(), launch).await?;
        let browser = instance.context.lock().await.engine.version.clone();
        let line = format!("launched {} ({browser})", instance.id);
        let data = Launched { success: true, browser_id: instance.id.clone(), browser, viewport };
        Ok(Told::new(data, line, pack.config.text))
    }
}

/// What is meant by what was written.
fn launch(input: Input) -> Result<Launch> {
    let wrong = |words: String, hint: &'static str| Error::new(Kind::InvalidInput, words).hint(hint);
    if matches!(input.browser_type, Some(BrowserType::Firefox | BrowserType::Webkit)) {
        return Err(wrong("only `chromium` can be launched here".into(), "leave `browserType` out"));
    }
    if input.headless == Some(false) {
        return Err(wrong("a browser with a window cannot be launched here".into(), "leave `headless` out"));
    }
    let Viewport { width, height } = input.viewport.unwrap_or(Viewport { width: 1280, height: 720 });
    if !(1..=4096).contains(&width) || !(1..=4096).contains(&height) {
        return Err(wrong(
            format!("`viewport` is {width} by {height}"),
            "give 1 to 4096 pixels for each side",
        ));
    }
    let headers: Vec<(String, String)> = input.extra_http_headers.unwrap_or_default().into_iter().collect();
    if headers.len() > 50 || !headers.iter().all(|(name, value)| is_header(name, value)) {
        return Err(wrong(
            "`extraHttpHeaders` holds what is no header".into(),
            "give names of letters, digits and `-`",
        ));
    }
    if input.user_agent.as_ref().is_some_and(|agent| !is_header("User-Agent", agent)) {
        return Err(wrong("`userAgent` cannot be sent".into(), "give one line, of at most 4000 bytes"));
    }
    let domain = |text: String| {
        HostPattern::try_from(text)
            .map_err(|error| wrong(error.to_string(), "give hosts, not addresses of pages"))
    };
    if input.allowed_domains.as_ref().is_some_and(Vec::is_empty) {
        return Err(wrong("`allowedDomains` is empty".into(), "list hosts, or leave it out"));
    }
    let allowed =
        input.allowed_domains.map(|texts| texts.into_iter().map(domain).collect::<Result<Vec<_>>>());
    let label = input.label.map(|label| brief(&label, 60));
    let options = Options { width, height, user_agent: input.user_agent, headers };
    Ok(Launch { label, options, allowed: allowed.transpose()? })
}

fn is_header(name: &str, value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(fits) && value.len() <= 4000 && !value.contains(['\r', '\n', '\0'])
}

//! `wait_for_element`: wait until an element or a text is there, or gone.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::acting::What;
use crate::pack::Browser;
use crate::pool::Page;
use crate::reply::{Acted, Told};
use crate::tab::Halt;
use crate::text::brief;

pub(super) struct WaitForElement;

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
    /// Default visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "State")]
    state: Option<State>,
    /// Or this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
    /// Or a text to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text_gone: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Attached,
    Detached,
    #[default]
    Visible,
    Hidden,
}

/// What is waited for.
enum Wanted {
    Element(What, State),
    Text(String),
    NoText(String),
}

impl Tool<Browser> for WaitForElement {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "wait_for_element",
        title: "Wait",
        description: "Wait until an element or text is there or gone.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, 30_000)?;
        let what = What::maybe(input.reference, input.selector)?;
        let wanted = match (what, input.text, input.text_gone) {
            (Some(what), None, None) => Wanted::Element(what, input.state.unwrap_or_default()),
            (None, Some(text), None) => Wanted::Text(text),
            (None, None, Some(text)) => Wanted::NoText(text),
            _ => {
                return Err(Error::new(Kind::InvalidInput, "say one thing to wait for")
                    .hint("give `ref`, `selector`, `text` or `textGone`"));
            }
        };
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let (before, end) = (page.before(), Instant::now() + limit);
        while !is_so(&page, &wanted).await? {
            if Instant::now() >= end {
                let words = format!("waited {} ms for {}", limit.as_millis(), shown(&wanted));
                return Err(
                    Error::new(Kind::Timeout, words).hint("call `get_page_snapshot` to see what is there")
                );
            }
            tokio::time::sleep(Duration::from_millis(80)).await;
        }
        Ok(page.acted(pack.config.text, before, format!("waited for {}", shown(&wanted))).await)
    }
}

async fn is_so(page: &Page, wanted: &Wanted) -> Result<bool> {
    let limit = Duration::from_secs(20);
    match wanted {
        Wanted::Element(what, state) => {
            let (_, told) = page.tab.look(what, ("state", json!({})), limit).await?;
            if told["missing"] == "selector" {
                // It says what is wrong with it.
                page.tab.on(what, ("state", json!({})), limit).await?;
            }
            let (attached, visible) = (told["attached"] == true, told["visible"] == true);
            Ok(match state {
                State::Attached => attached,
                State::Detached => !attached,
                State::Visible => visible,
                State::Hidden => !visible,
            })
        }
        Wanted::Text(text) => says(page, text, limit).await,
        Wanted::NoText(text) => says(page, text, limit).await.map(|says| !says),
    }
}

async fn says(page: &Page, text: &str, limit: Duration) -> Result<bool> {
    for spot in page.tab.spots() {
        match page.tab.run(&spot, ("says", json!({"text": text})), limit).await {
            Ok(told) if told["says"] == true => return Ok(true),
            Ok(_) => {}
            Err(Halt::Left) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(false)
}

fn shown(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Element(what, state) => {
            format!("{} to be {}", what.shown(), format!("{state:?}").to_lowercase())
        }
        Wanted::Text(text) => format!("the text {:?}", brief(text, 100)),
        Wanted::NoText(text) => format!("the text {:?} to go", brief(text, 100)),
    }
}

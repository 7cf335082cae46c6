//! `manage_tabs`: list, open, select or close tabs of a browser.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use super::going::{WaitUntil, go};
use crate::pack::Browser;
use crate::pool::Page;
use crate::reply::Told;
use crate::tab::Tab;
use crate::text::brief;

pub(super) struct ManageTabs;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What to do.
    action: Action,
    /// Id of a tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    tab_id: Option<String>,
    /// Of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    url: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    New,
    Select,
    Close,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// Whether it was done.
    success: bool,
    /// The id of the browser.
    browser_id: String,
    /// All its tabs.
    items: Vec<Item>,
    /// What else is to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    note: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The id of it.
    tab_id: String,
    /// The address of its page.
    url: String,
    /// Whether tools act on it.
    current: bool,
}

impl Tool<Browser> for ManageTabs {
    type Input = Input;
    type Output = Told<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "manage_tabs",
        title: "Tabs",
        description: "List, open, select or close tabs.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Output>> {
        let mut page = pack.pool.page(run.principal(), input.browser_id.as_deref()).await?;
        match input.action {
            Action::List => {}
            Action::New => {
                page.tab = page.context.open("about:blank").await?;
                page.context.select(&page.tab);
                if let Some(url) = &input.url {
                    let limit = Browser::limit(None, pack.config.timeout)?;
                    go(&page, url, WaitUntil::default(), limit).await?;
                }
            }
            Action::Select => {
                let tab = named(&page, input.tab_id.as_deref())?;
                tab.tell("Page.bringToFront", json!({}));
                page.context.select(&tab);
            }
            Action::Close => {
                let tab = named(&page, input.tab_id.as_deref())?;
                page.context.engine.devtools.tell(
                    None,
                    "Target.closeTarget",
                    json!({"targetId": tab.target}),
                );
                page.context.until_gone(&tab).await;
            }
        }
        Ok(told(pack, &page))
    }
}

fn named(page: &Page, id: Option<&str>) -> Result<Arc<Tab>> {
    let tabs = page.context.tabs();
    let ids: Vec<&str> = tabs.iter().map(|tab| tab.id.as_str()).collect();
    let Some(id) = id else {
        return Err(Error::new(Kind::InvalidInput, "`tabId` is missing")
            .hint(format!("give one of {}", ids.join(", "))));
    };
    tabs.iter().find(|tab| tab.id == id).cloned().ok_or_else(|| {
        let words = format!("there is no tab `{}`", brief(id, 60));
        Error::new(Kind::NotFound, words).hint(format!("give one of {}", ids.join(", ")))
    })
}

fn told(pack: &Browser, page: &Page) -> Told<Output> {
    let current = page.context.current().map(|tab| tab.id.clone());
    let item = |tab: Arc<Tab>| Item {
        tab_id: tab.id.clone(),
        url: brief(&tab.state().url, 300),
        current: Some(&tab.id) == current.as_ref(),
    };
    let items: Vec<Item> = page.context.tabs().into_iter().map(item).collect();
    let mark = |item: &Item| format!("{}{} {}", item.tab_id, if item.current { "*" } else { "" }, item.url);
    let note = page.instance.lost();
    let line = items.iter().map(mark).chain(note.map(Into::into)).collect::<Vec<_>>().join("\n");
    let data = Output { success: true, browser_id: page.instance.id.clone(), items, note };
    Told::new(data, line, pack.config.text)
}

//! `close_browser`: close a browser, with all its pages, cookies and storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::downloads::{Downloaded, News, Shape};
use crate::pack::Browser;
use crate::reply::Told;

pub(super) struct CloseBrowser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Closed {
    /// Whether it was closed.
    success: bool,
    /// The id that it had.
    browser_id: String,
    /// Files that its pages handed over last: name, state, bytes and uri.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Shape")]
    downloads: Vec<Downloaded>,
}

impl Tool<Browser> for CloseBrowser {
    type Input = Input;
    type Output = Told<Closed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "close_browser",
        title: "Close",
        description: "Close a browser with its pages.",
        hints: Hints::WRITE_LOCAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Closed>> {
        let instance = pack.pool.find(run.principal(), input.browser_id.as_deref())?;
        let context = instance.context.lock().await.clone();
        let news = match &context.downloads {
            Some(downloads) => downloads.keep(&pack.store, &instance.owner).await,
            None => News::default(),
        };
        pack.pool.close(&instance).await;
        let mut parts = vec![format!("closed {}", instance.id)];
        parts.extend(news.items.iter().map(Downloaded::shown));
        let links = news.items.iter().filter_map(Downloaded::link).collect();
        let data = Closed { success: true, browser_id: instance.id.clone(), downloads: news.items };
        Ok(Told { data, line: parts.join("; "), form: pack.config.text, links })
    }
}

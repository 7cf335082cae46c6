//! `close_browser`: close a browser, with all its pages, cookies and storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::reply::Told;

pub(super) struct CloseBrowser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Which browser.
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
}

impl Tool<Browser> for CloseBrowser {
    type Input = Input;
    type Output = Told<Closed>;
    const SPEC: ToolSpec = ToolSpec {
        name: "close_browser",
        title: "Close a browser",
        description: "Close a browser, with all its pages, cookies and storage.",
        hints: Hints::WRITE_LOCAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Closed>> {
        let instance = pack.pool.find(run.principal(), input.browser_id.as_deref())?;
        pack.pool.close(&instance).await;
        let data = Closed { success: true, browser_id: instance.id.clone() };
        Ok(Told { data, line: format!("closed {}", instance.id), form: pack.config.text })
    }
}

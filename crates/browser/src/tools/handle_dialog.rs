//! `handle_dialog`: accept or dismiss a dialog that the page has opened.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec};

use crate::pack::Browser;
use crate::reply::{Acted, Told, or_dialog};

pub(super) struct HandleDialog;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Or dismiss it.
    accept: bool,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    prompt_text: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

impl Tool<Browser> for HandleDialog {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "handle_dialog",
        title: "Dialog",
        description: "Accept or dismiss a dialog.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let page = pack.pool.page(run.principal(), input.browser_id.as_deref()).await?.not_lost()?;
        let before = page.before();
        let dialog = page.tab.state().dialog.clone();
        let Some(dialog) = dialog else {
            return Err(Error::new(Kind::NotFound, "no dialog is open").hint("go on without it"));
        };
        // Whoever accepts a prompt without a word takes what it offers.
        let text = input.prompt_text.unwrap_or_else(|| dialog.default.clone());
        page.tab.answer_dialog(input.accept, Some(&text)).await?;
        or_dialog(page.tab.settle(Duration::from_secs(5)).await)?;
        let did = format!("{} the {}", if input.accept { "accepted" } else { "dismissed" }, dialog.shown());
        Ok(page.acted(pack.config.text, before, did).await)
    }
}

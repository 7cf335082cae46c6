//! `get_console_messages`: read what the page wrote to its console.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Text, Tool, ToolSpec};

use super::numbered::{Wanted, listed};
use crate::pack::Browser;
use crate::tab::{Level, Line};

pub(super) struct GetConsoleMessages;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// At least (info).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Level")]
    level: Option<Level>,
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

impl Tool<Browser> for GetConsoleMessages {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_console_messages",
        title: "Console",
        description: "Read the console.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let page = pack.pool.page(run.principal(), input.browser_id.as_deref()).await?.not_lost()?;
        let least = input.level.unwrap_or(Level::Info);
        let wanted = Wanted { since: input.since, limit: input.limit };
        let state = page.tab.state();
        let fits = state.console.iter().filter(|(_, line)| line.level >= least);
        Ok(listed(fits, &wanted, "messages", shown))
    }
}

fn shown(number: u64, line: &Line) -> String {
    let place = if line.place.is_empty() { String::new() } else { format!(" ({})", line.place) };
    let text = line.text.replace('\n', " ");
    format!("{number} {} {text}{place}", format!("{:?}", line.level).to_lowercase())
}

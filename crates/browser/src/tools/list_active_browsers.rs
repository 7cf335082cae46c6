//! `list_active_browsers`: list your browsers and what they show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec, iso8601};

use crate::pack::Browser;

pub(super) struct ListActiveBrowsers;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Your browsers, in the order in which they were launched.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// The id of it.
    browser_id: String,
    /// Its name, if it was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    label: Option<String>,
    /// The address of the page in front.
    url: String,
    /// How many tabs it has.
    tabs: usize,
    /// When it was launched.
    launched_at: String,
    /// For how many seconds it has not been used.
    idle_seconds: u64,
}

impl Tool<Browser> for ListActiveBrowsers {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "list_active_browsers",
        title: "Browsers",
        description: "List your browsers.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let Input {} = input;
        let mut items = Vec::new();
        for instance in pack.pool.of(&run.principal().id) {
            let context = instance.context.lock().await.clone();
            let url = context.current().map(|tab| tab.state().url.clone()).unwrap_or_default();
            items.push(Item {
                browser_id: instance.id.clone(),
                label: instance.label.clone(),
                url: crate::text::brief(&url, 300),
                tabs: context.tabs().len(),
                launched_at: iso8601(instance.created_unix_ms),
                idle_seconds: instance.idle().as_secs(),
            });
        }
        Ok(Json(Output { items }))
    }
}

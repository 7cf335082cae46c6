//! `manage_storage`: read, set or delete cookies and what the page has stored.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Text, Tool, ToolSpec};

use crate::pack::Browser;
use crate::pool::Page;
use crate::text::{brief, fenced, fitting};

const LIMIT: Duration = Duration::from_secs(20);

pub(super) struct ManageStorage;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Where it is.
    area: Area,
    /// What to do.
    action: Action,
    /// Name of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    key: Option<String>,
    /// Its new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    value: Option<String>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Area {
    Cookies,
    Local,
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Get,
    Set,
    Delete,
    Clear,
}

impl Tool<Browser> for ManageStorage {
    type Input = Input;
    type Output = Text;
    const SPEC: ToolSpec = ToolSpec {
        name: "manage_storage",
        title: "Storage",
        description: "Read or change cookies and storage.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Text> {
        let lacks_key = input.key.is_none() && matches!(input.action, Action::Set | Action::Delete);
        if lacks_key || (input.value.is_none() && input.action == Action::Set) {
            return Err(Error::new(Kind::InvalidInput, "`key` or `value` is missing")
                .hint("`set` needs both, `delete` needs `key`"));
        }
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let (items, total): (Vec<(String, String)>, usize) = match input.area {
            Area::Cookies => {
                let items = cookies(&page, &input).await?;
                let total = items.len();
                (items, total)
            }
            Area::Local | Area::Session => {
                let args = json!({"area": input.area, "action": input.action, "key": input.key, "value": input.value});
                let told = page.tab.run(&page.tab.main_spot(), ("storage", args), LIMIT).await?;
                if let Some(why) = told["why"].as_str() {
                    return Err(Error::new(
                        Kind::InvalidInput,
                        format!("the page has no storage: {}", brief(why, 200)),
                    )
                    .hint("navigate to a page with `http` or `https` first"));
                }
                let pair = |item: &Value| (text(&item["key"]), text(&item["value"]));
                let total = usize::try_from(told["total"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
                (told["items"].as_array().into_iter().flatten().map(pair).collect(), total)
            }
        };
        if items.is_empty() {
            return Ok(Text("nothing is stored".into()));
        }
        let lines: Vec<String> =
            items.iter().map(|(key, value)| format!("{} = {}", brief(key, 200), brief(value, 500))).collect();
        let shown = fitting(&lines, 20_000);
        let rest = match total.saturating_sub(shown.len()) {
            0 => String::new(),
            rest => format!(", {rest} not shown: give `key` to see one"),
        };
        Ok(Text(format!("{total} stored{rest}\n{}", fenced(&shown.join("\n")))))
    }
}

/// Acts on the cookies of the browser; only those that the page gets are told.
async fn cookies(page: &Page, input: &Input) -> Result<Vec<(String, String)>> {
    let url = page.tab.state().url.clone();
    match input.action {
        Action::Get => {}
        Action::Set => {
            let cookie = json!({"name": input.key, "value": input.value, "url": url});
            let done: Value = page.tab.call(("Network.setCookie", cookie), LIMIT).await?;
            if done["success"] == false {
                return Err(Error::new(Kind::InvalidInput, "the cookie was not taken")
                    .hint("check its name and value"));
            }
        }
        Action::Delete => {
            let _: Value = page
                .tab
                .call(("Network.deleteCookies", json!({"name": input.key, "url": url})), LIMIT)
                .await?;
        }
        Action::Clear => {
            let _: Value = page.tab.call(("Network.clearBrowserCookies", json!({})), LIMIT).await?;
        }
    }
    let told: Value = page.tab.call(("Network.getCookies", json!({"urls": [url]})), LIMIT).await?;
    let pairs = told["cookies"].as_array().into_iter().flatten();
    let pairs = pairs.map(|cookie| (text(&cookie["name"]), text(&cookie["value"])));
    let is_wanted = |pair: &(String, String)| {
        input.action != Action::Get || input.key.as_ref().is_none_or(|key| *key == pair.0)
    };
    Ok(pairs.filter(is_wanted).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

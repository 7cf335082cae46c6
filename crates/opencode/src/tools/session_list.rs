//! `opencode_session_list`: the sessions of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec, iso8601};

use super::text;
use crate::pack::Opencode;

/// How many sessions are shown unless more are asked for.
const LIMIT: u32 = 100;

pub(super) struct SessionList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
    /// Only sessions whose titles contain this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    search: Option<String>,
    /// How many at most, the newest first.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

fn limit() -> u32 {
    LIMIT
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The sessions, the newest first.
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// Its id, for the other tools.
    session_id: String,
    /// What it is called.
    title: String,
    /// The folder it works in.
    directory: String,
    /// Whether it works now: idle, busy or retry.
    status: String,
    /// When it was last used, in UTC.
    updated: String,
}

impl Tool<Opencode> for SessionList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_session_list",
        title: "List sessions",
        description: "List the sessions of OpenCode in a project, and which of them work now.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let request = link.client().get(&["session"]).within(&project.path);
        let request = request.query("limit", &input.limit.to_string());
        let request = match &input.search {
            Some(search) => request.query("search", search),
            None => request,
        };
        let sessions = request.send().await?;
        let status = link.client().get(&["session", "status"]).within(&project.path).send().await?;
        let item = |info: &serde_json::Value| {
            let id = text(&info["id"]);
            Item {
                title: text(&info["title"]),
                directory: text(&info["directory"]),
                status: status[&id]["type"].as_str().unwrap_or("idle").to_owned(),
                updated: iso8601(info["time"]["updated"].as_u64().unwrap_or(0)),
                session_id: id,
            }
        };
        Ok(Json(Output { items: sessions.as_array().into_iter().flatten().map(item).collect() }))
    }
}

//! The tools, a file each.

mod agent_delegate;
mod agent_list;
mod files;
mod prompting;
mod run;
mod session_abort;
mod session_create;
mod session_list;
mod session_prompt;
mod session_share;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolgate_core::{AnyTool, Error, Result, tool};

use crate::client::Client;
use crate::id::session_id;
use crate::pack::Opencode;

/// All tools, by category.
pub(crate) fn all() -> Vec<AnyTool<Opencode>> {
    vec![
        tool(run::Run),
        tool(session_create::SessionCreate),
        tool(session_prompt::SessionPrompt),
        tool(session_list::SessionList),
        tool(session_abort::SessionAbort),
        tool(session_share::SessionShare),
        tool(agent_list::AgentList),
        tool(agent_delegate::AgentDelegate),
    ]
}

/// The arguments of a tool about a session and nothing else.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct OfSession {
    /// The id of the session, as `opencode_session_list` shows it.
    session_id: String,
}

/// A session as OpenCode describes it; one that does not exist is an error.
async fn session(client: &Client, id: &str) -> Result<Value> {
    client.get(&["session", session_id(id)?]).send().await
}

/// The text at a key, or none.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Adds what to do next, where the error says nothing of it itself.
fn advised(error: Error, hint: &'static str) -> Error {
    if error.next_step().is_some() { error } else { error.hint(hint) }
}

//! The tools, a file each.

mod agent_delegate;
mod agent_list;
mod auth_set;
mod config_get;
mod config_update;
mod file_read;
mod file_search;
mod file_status;
mod files;
mod find_files;
mod find_symbols;
mod mcp_add;
mod mcp_enable;
mod mcp_list;
mod mcp_remove;
mod mcp_servers;
mod model_configure;
mod model_list;
mod permission_set;
mod prompting;
mod provider_list;
mod run;
mod search;
mod session_abort;
mod session_create;
mod session_list;
mod session_prompt;
mod session_share;
mod skill_create;
mod skill_list;
mod skill_load;
mod tool_configure;
mod tool_list;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolgate_core::{AnyTool, Error, Result, tool};

use crate::answers::{list, text};
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
        tool(file_read::FileRead),
        tool(file_search::FileSearch),
        tool(find_files::FindFiles),
        tool(find_symbols::FindSymbols),
        tool(file_status::FileStatus),
        tool(model_list::ModelList),
        tool(model_configure::ModelConfigure),
        tool(provider_list::ProviderList),
        tool(config_get::ConfigGet),
        tool(config_update::ConfigUpdate),
        tool(auth_set::AuthSet),
        tool(agent_list::AgentList),
        tool(agent_delegate::AgentDelegate),
        tool(skill_list::SkillList),
        tool(skill_load::SkillLoad),
        tool(skill_create::SkillCreate),
        tool(mcp_list::McpList),
        tool(mcp_add::McpAdd),
        tool(mcp_remove::McpRemove),
        tool(mcp_enable::McpEnable),
        tool(tool_list::ToolList),
        tool(tool_configure::ToolConfigure),
        tool(permission_set::PermissionSet),
    ]
}

/// The arguments of a tool about a project and nothing else.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct InProject {
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
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

/// Adds what to do next, where the error says nothing of it itself.
fn advised(error: Error, hint: &'static str) -> Error {
    if error.next_step().is_some() { error } else { error.hint(hint) }
}

//! OpenCode's agents, checked by name before a prompt goes to one.

use std::path::Path;

use serde_json::Value;
use toolgate_core::{Error, Kind, Result};

use crate::client::Client;
use crate::model::nearest;

/// The agents of a project, as OpenCode describes them, those for its own use left out.
pub(crate) async fn agents(client: &Client, directory: &Path) -> Result<Vec<Value>> {
    let all = client.get(&["agent"]).within(directory).send().await?;
    let Value::Array(all) = all else { return Ok(Vec::new()) };
    Ok(all.into_iter().filter(|agent| agent["hidden"] != true).collect())
}

/// The agent of this name.
pub(crate) async fn agent(client: &Client, directory: &Path, name: &str) -> Result<Value> {
    let all = agents(client, directory).await?;
    if let Some(agent) = all.iter().find(|agent| agent["name"] == name) {
        return Ok(agent.clone());
    }
    let near = nearest(name, all.iter().filter_map(|agent| agent["name"].as_str()));
    Err(Error::new(Kind::AgentNotFound, format!("OpenCode has no agent `{name}`")).hint(match near {
        Some(near) => format!("did you mean `{near}`? `opencode_agent_list` shows the agents"),
        None => "call `opencode_agent_list` to see the agents".to_owned(),
    }))
}

/// Where in the configuration stands what counts for an agent, or for all where none is named.
pub(crate) async fn path_of<'a>(
    client: &Client,
    directory: &Path,
    name: Option<&'a str>,
) -> Result<Vec<&'a str>> {
    let Some(name) = name else { return Ok(Vec::new()) };
    agent(client, directory, name).await?;
    Ok(vec!["agent", name])
}

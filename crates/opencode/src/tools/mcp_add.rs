//! `opencode_mcp_add`: another MCP server for OpenCode.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::mcp_servers::{Standing, changed, path};
use crate::pack::Opencode;
use crate::settings::{Change, Scope};

pub(super) struct McpAdd;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The name of the server.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    name: String,
    /// How it is reached: as a program (local) or by an address (remote).
    #[serde(rename = "type")]
    #[schemars(with = "String", extend("enum" = ["local", "remote"]))]
    kind: String,
    /// The program and its arguments, of a local server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    /// Variables that a local server sees.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<String, String>,
    /// The address of a remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    url: Option<String>,
    /// Headers for a remote server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    /// Whether it is switched on.
    #[serde(default = "on")]
    enabled: bool,
    /// How many milliseconds it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1))]
    timeout: Option<u64>,
    /// For whom it counts: all projects (global), or this one (project).
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["project", "global"]))]
    scope: Scope,
    /// Whether sessions that work now may be stopped by it.
    #[serde(default)]
    force: bool,
    /// The absolute path of the project; by default the configured one, or the one we work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    working_directory: Option<String>,
}

impl Tool<Opencode> for McpAdd {
    type Input = Input;
    type Output = Json<Standing>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_mcp_add",
        title: "Add an MCP server",
        description: "Add an MCP server to OpenCode, now and for good.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Standing>> {
        let config = config(&input)?;
        let project = pack.own_project(input.working_directory.as_deref())?;
        let link = pack.link().await?;
        let known = link.client().get(&["config"]).within(&project.path).send().await?;
        if known["mcp"][&input.name].is_object() {
            let words = format!("`name` is `{}`, which OpenCode has already", input.name);
            return Err(
                Error::new(Kind::InvalidInput, words).hint("remove it first with `opencode_mcp_remove`")
            );
        }
        let keys = vec![(path(&input.name), Some(config))];
        let change =
            Change { scope: input.scope, project: &project.path, keys, rules: None, force: input.force };
        changed(pack, &link, change, input.name).await.map(Json)
    }
}

fn on() -> bool {
    true
}

/// The server as OpenCode writes it down.
fn config(input: &Input) -> Result<Value> {
    let refused = |words: String, hint: &'static str| Err(Error::new(Kind::InvalidInput, words).hint(hint));
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if input.name.is_empty() || input.name.len() > 64 || !input.name.chars().all(fits) {
        let words = format!("`name` is `{}`, expected letters, digits, `_` and `-`", input.name);
        return refused(words, "choose a short name such as `docs`");
    }
    let mut config = match (input.kind.as_str(), &input.url) {
        ("local", _) if input.command.is_empty() => {
            return refused(
                "`command` is missing: a local server is a program".into(),
                "give the program in `command`",
            );
        }
        ("local", _) => {
            json!({"type": "local", "command": input.command, "environment": input.environment})
        }
        ("remote", Some(url)) if url::Url::parse(url).is_ok() => {
            json!({"type": "remote", "url": url, "headers": input.headers})
        }
        ("remote", _) => {
            return refused(
                "`url` is missing or no address".into(),
                "give the address of the server in `url`",
            );
        }
        (other, _) => {
            return refused(
                format!("`type` is `{other}`, expected `local` or `remote`"),
                "choose one of them",
            );
        }
    };
    config["enabled"] = input.enabled.into();
    if let Some(timeout) = input.timeout {
        config["timeout"] = timeout.into();
    }
    Ok(config)
}

//! `docs/reference/configuration.md` and the JSON Schema beside it: every key of `toolgate.toml`.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use toolgate_config::env::VARIABLES;
use toolgate_config::{KeyDoc, TableDoc, describe, literal};

use super::markdown::{code, table};
use crate::process::Program;

/// The binary says itself what can be configured.
const SCHEMA: &str = "cargo run --quiet --package toolgate -- config schema";

const INTRO: &str = "\
# Configuration

`toolgate.toml` of the working folder is read, else the one in the user's configuration folder
(`~/.config/toolgate/`); `--config FILE` or `TOOLGATE_CONFIG` names another. Flags win over
[environment variables](environment.md), which win over the file.

- `toolgate config init` writes a file in which every key stands as a comment; `toolgate config set KEY VALUE` and
  `toolgate config unset KEY` change one key and keep the rest.
- `toolgate config show` says what is in force, and where each value comes from.
- `toolgate config check` says what is wrong, by line and column.
- A relative path counts from the folder of the file that it is written in.
- A server that runs reads the file again when it changes, and on SIGHUP. A file that is wrong changes nothing.

Editors complete and check the file by its JSON Schema, [toolgate.schema.json](toolgate.schema.json): put
`#:schema PATH` with the path to it in the first line.

## From OpenCode's file

`opencode.json` or `opencode.jsonc` of the working folder, else the user's, lies below `toolgate.toml`;
`OPENCODE_CONFIG_PATH` names another. Only this is taken from it, and nothing in it is ever an error:

| in `opencode.json` | sets |
|---|---|
| `server.hostname`, `server.port` | `opencode.server_url` |
| `logLevel` | `log.level` |
| `experimental.mcp_timeout` | `experimental.mcp_timeout` |
";

/// The page.
pub(super) fn write(root: &Path) -> Result<String> {
    let schema: Value = serde_json::from_str(&schema(root)?).context("the schema is no JSON")?;
    Ok(format!("{INTRO}{}", describe(&schema).iter().map(section).collect::<String>()))
}

/// The schema.
pub(super) fn schema(root: &Path) -> Result<String> {
    Program::new(root, SCHEMA).read()
}

fn section(part: &TableDoc) -> String {
    let rows: Vec<Vec<String>> = part.keys.iter().map(|key| row(part, key)).collect();
    let title = if part.name.is_empty() { "At the top".to_owned() } else { code(&part.header()) };
    let about = if part.description.is_empty() { String::new() } else { format!("{}\n\n", part.description) };
    format!("\n## {title}\n\n{about}{}", table(&["key", "type", "default", "meaning", "variables"], &rows))
}

fn row(part: &TableDoc, key: &KeyDoc) -> Vec<String> {
    let dotted = if part.name.is_empty() { key.name.clone() } else { format!("{}.{}", part.name, key.name) };
    let variables = VARIABLES.iter().filter(|variable| variable.key == Some(dotted.as_str()));
    let variables: Vec<String> = variables.map(|variable| code(variable.name)).collect();
    let default =
        key.default.as_ref().and_then(literal).map_or_else(|| "not set".to_owned(), |text| code(&text));
    vec![code(&key.name), key.form.clone(), default, key.description.clone(), variables.join(", ")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_told_with_its_default_and_its_variables() {
        let schema = json!({ "properties": { "http": {
            "description": "Serving over HTTP.",
            "properties": {
                "port": { "type": "integer", "minimum": 0, "default": 3000, "description": "The port." },
                "token": { "type": ["string", "null"], "description": "A secret." },
            },
        } } });
        let page: String = describe(&schema).iter().map(section).collect();
        assert_eq!(
            page,
            "\n## `[http]`\n\nServing over HTTP.\n\n\
             | key | type | default | meaning | variables |\n|---|---|---|---|---|\n\
             | `port` | integer, at least 0 | `3000` | The port. | `TOOLGATE_HTTP_PORT`, `MCP_HTTP_PORT` |\n\
             | `token` | string | not set | A secret. | `TOOLGATE_HTTP_TOKEN` |\n"
        );
    }
}

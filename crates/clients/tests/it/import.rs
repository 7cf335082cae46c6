//! Servers that clients use already, in every client's form.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use toolgate_clients::import::{Findings, Found, Look, Withdrawal, look};
use toolgate_clients::{Client, Entry, Folders, System};

/// A home and a project with clients' files.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        for (file, content) in files {
            let path = home.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content.replace("HOME", home.folder.path().to_str().unwrap())).unwrap();
        }
        home
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub(crate) fn look(&self, clients: &[Client]) -> Findings {
        let home = self.folder.path().to_str().unwrap().to_owned();
        let variable = move |name: &str| match name {
            "HOME" => Some(home.clone()),
            "SET" => Some("value".to_owned()),
            _ => None,
        };
        let folders = Folders::new(System::Linux, &variable).unwrap();
        let is_own = |entry: &Entry| entry.name == "toolgate";
        look(
            &Look { folders: &folders, project: &self.path("project"), variable: &variable, is_own: &is_own },
            clients,
        )
    }

    /// All findings as text.
    fn told(&self, clients: &[Client]) -> String {
        let findings = self.look(clients);
        let mut out = String::new();
        for found in &findings.found {
            self.tell(found, &mut out);
        }
        for skipped in &findings.skipped {
            let origin = &skipped.origin;
            writeln!(out, "skipped {} of {}: {}", origin.name, origin.client, skipped.why).unwrap();
        }
        for problem in &findings.problems {
            writeln!(out, "problem: {problem}").unwrap();
        }
        out.replace(self.folder.path().to_str().unwrap(), "HOME")
    }

    fn tell(&self, found: &Found, out: &mut String) {
        writeln!(out, "[mcp.{}]", found.name).unwrap();
        for (key, value) in &found.table {
            writeln!(out, "{key} = {value}").unwrap();
        }
        for origin in &found.origins {
            let file = origin.file.strip_prefix(self.folder.path()).unwrap_or(&origin.file);
            let place = origin.container.join(" > ");
            writeln!(out, "  from {}: {} > {place} > {}", origin.client, file.display(), origin.name)
                .unwrap();
        }
        for secret in &found.secrets {
            writeln!(out, "  secret {} = {:?} at {}", secret.name, secret.expose(), secret.at).unwrap();
        }
        for (name, what) in &found.missing {
            writeln!(out, "  missing {name}: {what}").unwrap();
        }
        found.notes.iter().for_each(|note| writeln!(out, "  note {note}").unwrap());
        out.push('\n');
    }
}

#[test]
fn servers_of_claude_desktop() {
    let home = Home::new(&[(
        ".config/Claude/claude_desktop_config.json",
        r#"{
  "mcpServers": {
    "toolgate": {"command": "/bin/toolgate", "args": ["serve"]},
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]},
    "Brave Search": {"command": "npx", "args": ["-y", "brave"], "env": {"BRAVE_API_KEY": "BSA0123456789"}},
    "linear": {"command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.app/mcp"]},
    "cloud": {"command": "npx", "args": ["mcp-remote@latest", "https://c.example/mcp", "--header", "Authorization:Bearer abcdefgh1"]},
    "kept": {"command": "npx", "args": ["mcp-remote", "https://c.example/mcp", "--transport", "sse-only"]}
  }
}"#,
    )]);
    insta::assert_snapshot!(home.told(&[Client::ClaudeDesktop]));
}

#[test]
fn servers_of_claude_code() {
    let home = Home::new(&[
        (
            ".claude.json",
            r#"{
  "numStartups": 3,
  "mcpServers": {
    "github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/", "headers": {"Authorization": "Bearer ${GITHUB_PAT}"}},
    "notes": {"type": "stdio", "command": "uvx", "args": ["notes"], "env": {"LEVEL": "${LEVEL:-info}", "A": "${SET:-no}"}}
  },
  "projects": {
    "/home/me/one": {"mcpServers": {"db": {"command": "pg", "args": ["postgresql://me:hunter2@localhost/db"]}}, "history": []},
    "/home/me/two": {"mcpServers": {}},
    "/home/me/three": {"history": []}
  }
}"#,
        ),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"docs": {"type": "sse", "url": "https://d.example/sse", "oauth": {"clientId": "abc", "callbackPort": 8080}},
  "run": {"command": "sh", "args": ["-c", "exec server --home ${HOME}"]}}}"#,
        ),
    ]);
    insta::assert_snapshot!(home.told(&[Client::ClaudeCode]));
}

#[test]
fn servers_of_cursor() {
    let home = Home::new(&[
        (
            ".cursor/mcp.json",
            r#"{"mcpServers": {
  "tools": {"command": "${userHome}/bin/tools", "args": ["--root", "${workspaceFolder}", "--token=abcdefgh1"], "env": {"API_KEY": "${env:SET}"}},
  "web": {"url": "https://w.example/mcp?api_key=abcdefgh1&mode=fast", "auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "abcdefgh1", "scopes": ["read", "write"]}}
}}"#,
        ),
        (
            "project/.cursor/mcp.json",
            r#"{"mcpServers": {"tools": {"command": "tools", "args": ["${workspaceFolder}/x"], "alwaysAllow": ["a"]}}}"#,
        ),
    ]);
    insta::assert_snapshot!(home.told(&[Client::Cursor]));
}

#[test]
fn servers_of_vs_code() {
    let home = Home::new(&[
        (
            ".config/Code/User/mcp.json",
            r#"{
  // what VS Code asks for
  "inputs": [
    {"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true},
    {"type": "promptString", "id": "region", "description": "Region", "default": "eu"}
  ],
  "servers": {
    "perplexity": {"type": "stdio", "command": "npx", "args": ["-y", "perplexity"], "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}", "REGION": "${input:region}"}, "envFile": "${workspaceFolder}/.env"},
    "hosted": {"type": "http", "url": "https://h.example/mcp", "headers": {"X-Key": "${input:unknown}"}},
  }
}"#,
        ),
        (
            "project/.vscode/mcp.json",
            r#"{"servers": {"local": {"command": "node", "args": ["${workspaceFolder}/server.js"], "cwd": "${workspaceFolder}/sub"}}}"#,
        ),
    ]);
    insta::assert_snapshot!(home.told(&[Client::VsCode]));
}

#[test]
fn servers_of_windsurf() {
    let home = Home::new(&[(
        ".codeium/windsurf/mcp_config.json",
        r#"{"mcpServers": {
  "figma": {"serverUrl": "https://mcp.figma.com/mcp", "headers": {"X-Figma-Token": "figd_0123456789"}},
  "slack": {"command": "npx", "args": ["-y", "slack-mcp-server"], "env": {"SLACK_MCP_XOXP_TOKEN": "${file:/run/secrets/slack.txt}"}, "disabled": true, "disabledTools": ["send"]}
}}"#,
    )]);
    insta::assert_snapshot!(home.told(&[Client::Windsurf]));
}

#[test]
fn servers_of_opencode() {
    let home = Home::new(&[
        (
            ".config/opencode/opencode.json",
            r#"{"$schema": "https://opencode.ai/config.json", "mcp": {
  "files": {"type": "local", "command": ["npx", "-y", "files", "/tmp"], "environment": {"A": "{env:SET}", "KEY": "{file:~/.key}"}, "enabled": false, "timeout": 9000},
  "jira": {"type": "remote", "url": "https://j.example/mcp", "headers": {"Authorization": "Bearer {env:JIRA}"}, "oauth": {"clientId": "x", "redirectUri": "http://127.0.0.1/cb"}},
  "open": {"type": "remote", "url": "https://o.example/mcp", "oauth": false},
  "switched": {"enabled": true}
}}"#,
        ),
        (
            "project/opencode.jsonc",
            "{\n  // newer\n  \"mcp\": {\"timeout\": {\"startup\": 1}, \"servers\": {\"new\": {\"type\": \"local\", \"command\": [\"x\"], \"disabled\": true}}}\n}\n",
        ),
        (
            "project/.opencode/config.toml",
            r#"# as the guide shows it
[mcp.filesystem]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/project"]

[mcp.database]
url = "http://localhost:3000/sse"
headers = { "Authorization" = "Bearer token123" }

[mcp.web_api]
url = "http://localhost:8080"
headers = { "X-API-Key" = "key123" }

[mcp.github]
url = "https://mcp-github.example.com"
oauth = true
"#,
        ),
    ]);
    insta::assert_snapshot!(home.told(&[Client::OpenCode]));
}

#[test]
fn servers_of_codex() {
    let home = Home::new(&[(
        ".codex/config.toml",
        r#"model = "gpt"

[mcp_servers.docs]
url = "https://d.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { "X-Team" = "core" }
env_http_headers = { "X-User" = "SET" }
startup_timeout_sec = 20
tool_timeout_sec = 45.5

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]
env = { "A" = "b" }
env_vars = ["SET"]
cwd = "/srv"
enabled = false
enabled_tools = ["read"]
disabled_tools = ["write", "delete"]
"#,
    )]);
    insta::assert_snapshot!(home.told(&[Client::Codex]));
}

#[test]
fn the_same_server_is_found_once_and_others_are_told_apart() {
    let one = r#"{"mcpServers": {
  "same": {"command": "x", "env": {"TOKEN": "abcdefgh1"}},
  "other": {"command": "x", "env": {"TOKEN": "abcdefgh1"}},
  "mine": {"command": "a", "env": {"TOKEN": "different1"}}}}"#;
    let two = r#"{"mcpServers": {
  "same": {"command": "x", "args": [], "env": {"TOKEN": "abcdefgh1"}},
  "mine": {"command": "b", "env": {"TOKEN": "different2"}}}}"#;
    let home = Home::new(&[(".config/Claude/claude_desktop_config.json", one), (".cursor/mcp.json", two)]);
    insta::assert_snapshot!(home.told(&Client::ALL));
    let found = home.look(&Client::ALL).found;
    assert_eq!(found[0].plain()["env"]["TOKEN"], "abcdefgh1", "secrets can be written out again");
    assert_eq!(found[3].plain()["env"]["TOKEN"], "different2");
    assert_eq!(Withdrawal::of(&found[0].origins).len(), 2);
}

#[test]
fn a_secret_that_gets_another_name_does_not_get_that_of_a_third() {
    let files = r#"{"mcpServers": {
  "a": {"command": "a", "env": {"TOKEN": "different1"}},
  "b": {"command": "b", "env": {"TOKEN": "different2", "B_TOKEN": "different3"}}}}"#;
    let home = Home::new(&[(".cursor/mcp.json", files)]);
    let found = home.look(&[Client::Cursor]).found;
    let env = &found[1].table["env"];
    assert_eq!((&env["TOKEN"], &env["B_TOKEN"]), (&"{secret:B_TOKEN_2}".into(), &"{secret:B_TOKEN}".into()));
    let env = &found[1].plain()["env"];
    assert_eq!((&env["TOKEN"], &env["B_TOKEN"]), (&"different2".into(), &"different3".into()));
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let home = Home::new(&[
        (".cursor/mcp.json", "{\"mcpServers\": "),
        (".codeium/windsurf/mcp_config.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#),
        (".codex/config.toml", "mcp_servers = 1"),
    ]);
    insta::assert_snapshot!(home.told(&Client::ALL));
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let findings = Home::new(&[]).look(&Client::ALL);
    assert!(findings.found.is_empty() && findings.skipped.is_empty() && findings.problems.is_empty());
}

//! The entry as each client wants it.

use toolgate_clients::{Action, Client, Server};

use crate::scene::{NAME, Scene, lean, local, remote};

#[track_caller]
fn check(client: Client, server: &Server, expect: &str) {
    let scene = Scene::empty(client);
    assert_eq!(scene.set(server), Action::Create);
    assert_eq!(scene.content(), expect.trim_start_matches('\n'));
    let file = scene.read().unwrap();
    assert_eq!(file.entry(NAME).unwrap().server.as_ref(), Some(server), "it is read as it was written");
    assert_eq!(scene.set(server), Action::Nothing);
    assert_eq!(scene.undo(), Action::Delete);
    assert!(scene.files().is_empty());
}

#[test]
fn a_new_file_holds_the_entry_alone() {
    let plain = r#"
{
  "mcpServers": {
    "toolgate": {
      "command": "/bin/toolgate",
      "args": ["serve"]
    }
  }
}
"#;
    let typed = &plain.replace("\"command\"", "\"type\": \"stdio\",\n      \"command\"");
    check(Client::ClaudeDesktop, &local(), plain);
    check(Client::ClaudeCode, &local(), typed);
    check(Client::Cursor, &local(), plain);
    check(Client::VsCode, &local(), &typed.replace("mcpServers", "servers"));
    check(Client::Windsurf, &local(), plain);
    check(
        Client::OpenCode,
        &local(),
        r#"
{
  "mcp": {
    "toolgate": {
      "type": "local",
      "command": ["/bin/toolgate", "serve"],
      "enabled": true
    }
  }
}
"#,
    );
    check(
        Client::Codex,
        &local(),
        "[mcp_servers.toolgate]\ncommand = \"/bin/toolgate\"\nargs = [\"serve\"]\n",
    );
}

#[test]
fn variables_of_the_environment_have_their_key() {
    let plain = r#"
{
  "mcpServers": {
    "toolgate": {
      "command": "/bin/toolgate",
      "args": ["serve"],
      "env": {
        "TOOLGATE_PACKS": "workspace"
      }
    }
  }
}
"#;
    check(Client::Cursor, &lean(), plain);
    check(
        Client::OpenCode,
        &lean(),
        r#"
{
  "mcp": {
    "toolgate": {
      "type": "local",
      "command": ["/bin/toolgate", "serve"],
      "enabled": true,
      "environment": {
        "TOOLGATE_PACKS": "workspace"
      }
    }
  }
}
"#,
    );
    check(
        Client::Codex,
        &lean(),
        "[mcp_servers.toolgate]\ncommand = \"/bin/toolgate\"\nargs = [\"serve\"]\nenv = { TOOLGATE_PACKS = \"workspace\" }\n",
    );
}

#[test]
fn a_server_that_runs_elsewhere_has_an_address() {
    let one = |container: &str, entry: &str| {
        format!("{{\n  \"{container}\": {{\n    \"toolgate\": {{\n{entry}\n    }}\n  }}\n}}\n")
    };
    let url = r#"      "url": "http://127.0.0.1:3000/mcp""#;
    let typed = format!("      \"type\": \"http\",\n{url}");
    check(Client::ClaudeCode, &remote(), &one("mcpServers", &typed));
    check(Client::Cursor, &remote(), &one("mcpServers", url));
    check(Client::VsCode, &remote(), &one("servers", &typed));
    check(Client::Windsurf, &remote(), &one("mcpServers", &url.replace("url", "serverUrl")));
    let entry = format!("      \"type\": \"remote\",\n{url},\n      \"enabled\": true");
    check(Client::OpenCode, &remote(), &one("mcp", &entry));
    check(Client::Codex, &remote(), "[mcp_servers.toolgate]\nurl = \"http://127.0.0.1:3000/mcp\"\n");
}

#[test]
fn claude_desktop_takes_no_address() {
    assert!(!Client::ClaudeDesktop.takes_remote());
    assert_eq!(Scene::empty(Client::ClaudeDesktop).read().unwrap().set(NAME, &remote()).unwrap(), None);
}

#[test]
fn what_the_owner_added_to_our_entry_stays() {
    let before =
        r#"{"mcpServers": {"toolgate": {"command": "old", "env": {"A": "1"}, "alwaysAllow": ["x"]}}}"#;
    let scene = Scene::new(Client::Cursor, before);
    assert_eq!(scene.set(&local()), Action::Update);
    let expect = r#"{"mcpServers": {"toolgate": { "command": "/bin/toolgate", "args": ["serve"], "alwaysAllow": ["x"] }}}"#;
    assert_eq!(scene.content(), expect);
    scene.set(&remote());
    let expect =
        r#"{"mcpServers": {"toolgate": { "url": "http://127.0.0.1:3000/mcp", "alwaysAllow": ["x"] }}}"#;
    assert_eq!(scene.content(), expect);
    assert_eq!(scene.undo(), Action::Restore);
    assert_eq!(scene.content(), before, "the entry that was there before us");
}

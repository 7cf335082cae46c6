//! `toolgate setup` on a home folder full of clients: what it says, and what the files are before and after.

use std::fs;

use serde_json::{Value, json};

use crate::process::{Ended, Place, TOOLGATE, run};

/// A person's home folder.
struct Home(Place);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(Place::new());
        for (path, content) in files {
            let path = home.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        home
    }

    fn setup(&self, arguments: &[&str]) -> Ended {
        let mut command = self.0.toolgate(&["setup"]);
        command.args(arguments);
        run(command, b"")
    }

    /// What it says, without what differs between machines and as tools change.
    fn shown(&self, arguments: &[&str]) -> String {
        let Ended { code, stdout, stderr } = self.setup(arguments);
        let here = fs::canonicalize(self.0.path()).unwrap();
        let clean = |text: String| {
            let text = text.replace(TOOLGATE, "TOOLGATE").replace(&*here.to_string_lossy(), "HOME");
            let text = text.replace(&*self.0.path().to_string_lossy(), "HOME");
            let text: String = text.split("about ").enumerate().map(rounded).collect();
            text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
        };
        format!("exit {code}\n--- stdout\n{}--- stderr\n{}", clean(stdout), clean(stderr))
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn exists(&self, path: &str) -> bool {
        self.0.path().join(path).exists()
    }
}

/// The number after each `about` is left out.
fn rounded((place, text): (usize, &str)) -> String {
    if place == 0 {
        return text.to_owned();
    }
    let rest = text.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    format!("about N{rest}")
}

const CURSOR: &str = r#"{
  // of mine
  "mcpServers": {
    "github": {
      "command": "npx",
      "env": { "GITHUB_TOKEN": "ghp_secret" }, // do not lose
    },
  },
}
"#;

#[test]
fn alone_it_finds_the_clients() {
    let home = Home::new(&[
        (".cursor/mcp.json", CURSOR),
        (".codex/config.toml", "[mcp_servers.toolgate]\ncommand = \"/old/toolgate\"\n"),
        (".config/Code/User/mcp.json", "{\n  \"servers\": []\n}\n"),
        (".claude/settings.json", "{}"),
    ]);
    insta::assert_snapshot!(home.shown(&[]), @r"
    exit 0
    --- stdout
    claude-desktop  not found  would be set up in ~/.config/Claude/claude_desktop_config.json
    claude-code     installed  not set up in ~/.claude.json
    cursor          installed  not set up in ~/.cursor/mcp.json
    vscode          installed  ~/.config/Code/User/mcp.json:2:14 is broken: `servers` must be an object, not a list
    windsurf        not found  would be set up in ~/.codeium/windsurf/mcp_config.json
    opencode        not found  would be set up in ~/.config/opencode/opencode.json
    codex           installed  set up in ~/.codex/config.toml: /old/toolgate
    --- stderr
    next: see the change with `toolgate setup claude-code`
    ");
    let ended = home.setup(&["--json"]);
    let items: Value = serde_json::from_str(&ended.stdout).unwrap();
    let states: Vec<_> = items["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| [&item["client"], &item["installed"], &item["state"]])
        .collect();
    assert_eq!(
        json!(states),
        json!([
            ["claude-desktop", false, "none"],
            ["claude-code", true, "none"],
            ["cursor", true, "none"],
            ["vscode", true, "broken"],
            ["windsurf", false, "none"],
            ["opencode", false, "none"],
            ["codex", true, "entry"],
        ])
    );
    insta::assert_snapshot!(Home::new(&[]).shown(&[]), @r"
    exit 0
    --- stdout
    claude-desktop  not found  would be set up in ~/.config/Claude/claude_desktop_config.json
    claude-code     not found  would be set up in ~/.claude.json
    cursor          not found  would be set up in ~/.cursor/mcp.json
    vscode          not found  would be set up in ~/.config/Code/User/mcp.json
    windsurf        not found  would be set up in ~/.codeium/windsurf/mcp_config.json
    opencode        not found  would be set up in ~/.config/opencode/opencode.json
    codex           not found  would be set up in ~/.codex/config.toml
    --- stderr
    next: none was found; see the change all the same with `toolgate setup CLIENT`
    ");
}

#[test]
fn a_change_is_shown_before_it_is_made() {
    let home = Home::new(&[(".cursor/mcp.json", CURSOR)]);
    insta::assert_snapshot!(home.shown(&["cursor"]), @r#"
    exit 0
    --- stdout
    --- HOME/.cursor/mcp.json
    +++ HOME/.cursor/mcp.json
    @@ -5,5 +5,9 @@
           "command": "npx",
           "env": { "GITHUB_TOKEN": "…" }, // do not lose
         },
    +    "toolgate": {
    +      "command": "TOOLGATE",
    +      "args": ["serve"]
    +    },
       },
     }
    --- stderr
    this would change ~/.cursor/mcp.json; nothing is written yet
    the tools cost about N tokens in every conversation, with `--lean` about N
    next: run this again with `--write` to make this change
    "#);
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
    assert!(!home.exists(".cursor/mcp.json.toolgate-backup"));
}

#[test]
fn it_is_made_once_and_taken_back() {
    let home = Home::new(&[(".cursor/mcp.json", CURSOR)]);
    insta::assert_snapshot!(home.shown(&["cursor", "--write"]), @r#"
    exit 0
    --- stdout
    --- HOME/.cursor/mcp.json
    +++ HOME/.cursor/mcp.json
    @@ -5,5 +5,9 @@
           "command": "npx",
           "env": { "GITHUB_TOKEN": "…" }, // do not lose
         },
    +    "toolgate": {
    +      "command": "TOOLGATE",
    +      "args": ["serve"]
    +    },
       },
     }
    --- stderr
    wrote `toolgate` to ~/.cursor/mcp.json
    the file as it was is kept in ~/.cursor/mcp.json.toolgate-backup
    the tools cost about N tokens in every conversation, with `--lean` about N
    next: restart Cursor, and see that it is switched on among the MCP servers of its settings
    undo: toolgate setup cursor --undo
    "#);
    assert_eq!(home.read(".cursor/mcp.json.toolgate-backup"), CURSOR);
    let written = home.read(".cursor/mcp.json");
    insta::assert_snapshot!(home.shown(&["cursor", "--write"]), @r"
    exit 0
    --- stdout
    --- stderr
    ~/.cursor/mcp.json has `toolgate` as it should be: there is nothing to do
    the tools cost about N tokens in every conversation, with `--lean` about N
    ");
    assert_eq!(home.read(".cursor/mcp.json"), written);
    insta::assert_snapshot!(home.shown(&["cursor", "--undo"]), @r#"
    exit 0
    --- stdout
    --- HOME/.cursor/mcp.json
    +++ HOME/.cursor/mcp.json
    @@ -5,9 +5,5 @@
           "command": "npx",
           "env": { "GITHUB_TOKEN": "…" }, // do not lose
         },
    -    "toolgate": {
    -      "command": "TOOLGATE",
    -      "args": ["serve"]
    -    },
       },
     }
    --- stderr
    ~/.cursor/mcp.json is again as it was before
    next: restart Cursor, so that it forgets it
    "#);
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
    assert!(!home.exists(".cursor/mcp.json.toolgate-backup"));
    insta::assert_snapshot!(home.shown(&["cursor", "--undo"]), @r"
    exit 0
    --- stdout
    --- stderr
    ~/.cursor/mcp.json has no `toolgate`: there is nothing to undo
    ");
}

#[test]
fn a_lean_choice_shows_what_each_costs() {
    let home = Home::new(&[(".codex/config.toml", "model = \"gpt\" # mine\r\n")]);
    insta::assert_snapshot!(home.shown(&["codex", "--lean", "--workspace", ".", "--write"]), @r#"
    exit 0
    --- stdout
    --- HOME/.codex/config.toml
    +++ HOME/.codex/config.toml
    @@ -1 +1,6 @@
     model = "gpt" # mine
    +
    +[mcp_servers.toolgate]
    +command = "TOOLGATE"
    +args = ["serve", "--workspace", "HOME"]
    +env = { TOOLGATE_PACKS = "workspace" }
    --- stderr
    wrote `toolgate` to ~/.codex/config.toml
    the file as it was is kept in ~/.codex/config.toml.toolgate-backup
    what the tools cost in every conversation, in tokens:
      about N  all   workspace, memory, web, opencode, script, browser
      about N  lean  workspace
      about N        workspace
      about N        memory
      about N        web
      about N        opencode
      about N        script
      about N        browser
    next: start `codex` again; `/mcp` shows it
    undo: toolgate setup codex --undo
    "#);
    insta::assert_snapshot!(home.shown(&["codex", "--write"]), @r#"
    exit 0
    --- stdout
    --- HOME/.codex/config.toml
    +++ HOME/.codex/config.toml
    @@ -2,5 +2,4 @@

     [mcp_servers.toolgate]
     command = "TOOLGATE"
    -args = ["serve", "--workspace", "HOME"]
    -env = { TOOLGATE_PACKS = "workspace" }
    +args = ["serve"]
    --- stderr
    wrote `toolgate` to ~/.codex/config.toml
    the file as it was is kept in ~/.codex/config.toml.toolgate-backup
    the tools cost about N tokens in every conversation, with `--lean` about N
    next: start `codex` again; `/mcp` shows it
    undo: toolgate setup codex --undo
    "#);
    home.setup(&["codex", "--undo"]);
    assert_eq!(home.read(".codex/config.toml"), "model = \"gpt\" # mine\r\n");
}

#[test]
fn a_profile_is_offered_with_its_cost_and_chosen_by_name() {
    let home = Home::new(&[
        ("toolgate.toml", "[profiles.reading]\nshows = [\"*_read\"]\n"),
        (".codex/config.toml", "model = \"gpt\"\n"),
    ]);
    insta::assert_snapshot!(home.shown(&["codex", "--profile", "reading"]), @r#"
    exit 0
    --- stdout
    --- HOME/.codex/config.toml
    +++ HOME/.codex/config.toml
    @@ -1 +1,5 @@
     model = "gpt"
    +
    +[mcp_servers.toolgate]
    +command = "TOOLGATE"
    +args = ["serve", "--config", "HOME/toolgate.toml", "--profile", "reading"]
    --- stderr
    this would change ~/.codex/config.toml; nothing is written yet
    the tools cost about N tokens in every conversation, with `--profile reading` about N
    next: run this again with `--write` to make this change
    "#);
    insta::assert_snapshot!(home.shown(&["codex", "--lean"]), @r#"
    exit 0
    --- stdout
    --- HOME/.codex/config.toml
    +++ HOME/.codex/config.toml
    @@ -1 +1,6 @@
     model = "gpt"
    +
    +[mcp_servers.toolgate]
    +command = "TOOLGATE"
    +args = ["serve"]
    +env = { TOOLGATE_PACKS = "workspace" }
    --- stderr
    this would change ~/.codex/config.toml; nothing is written yet
    what the tools cost in every conversation, in tokens:
      about N  all   workspace, memory, web, opencode, script, browser
      about N  lean  workspace
      about N        workspace
      about N        memory
      about N        web
      about N        opencode
      about N        script
      about N        browser
      about N  with `--profile reading`
    next: run this again with `--write` to make this change
    "#);
    insta::assert_snapshot!(home.shown(&["codex", "--profile", "writing"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no profile `writing`
    hint: there are: reading
    ");
}

#[test]
fn every_client_is_set_up_and_undone() {
    for (client, path) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("codex", ".codex/config.toml"),
    ] {
        let home = Home::new(&[]);
        let ended = home.setup(&[client, "--write"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(home.read(path).contains(TOOLGATE), "{client}");
        assert_eq!(home.setup(&[client, "--undo"]).code, 0);
        assert!(!home.exists(path), "{client}");
    }
}

#[test]
fn what_is_written_starts_a_server() {
    let home = Home::new(&[]);
    assert_eq!(home.setup(&["claude-desktop", "--lean", "--write"]).code, 0);
    let file: Value = serde_json::from_str(&home.read(".config/Claude/claude_desktop_config.json")).unwrap();
    let entry = &file["mcpServers"]["toolgate"];
    assert_eq!(entry["command"], TOOLGATE);
    let arguments: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = home.0.toolgate(&arguments);
    for (name, value) in entry["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let ended = run(command, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["name"].as_str().unwrap().starts_with("workspace_")), "{tools:?}");
    assert!(!tools.is_empty());
}

#[test]
fn an_address_is_written_where_the_client_takes_one() {
    let home = Home::new(&[]);
    let arguments = ["--http", "https://gate.example.com/mcp", "--name", "team"];
    insta::assert_snapshot!(home.shown(&[&["vscode", "--write"], &arguments[..]].concat()), @r#"
    exit 0
    --- stdout
    --- /dev/null
    +++ HOME/.config/Code/User/mcp.json
    @@ -0,0 +1,8 @@
    +{
    +  "servers": {
    +    "team": {
    +      "type": "http",
    +      "url": "https://gate.example.com/mcp"
    +    }
    +  }
    +}
    --- stderr
    wrote `team` to ~/.config/Code/User/mcp.json
    next: run `MCP: List Servers` in the command palette and start it
    undo: toolgate setup vscode --name team --undo
    "#);
    insta::assert_snapshot!(home.shown(&[&["claude-desktop"], &arguments[..]].concat()), @r"
    exit 2
    --- stdout
    --- stderr
    error: Claude Desktop starts its servers itself; its file takes no address
    hint: leave out `--http`, or add the address in its settings, under connectors
    ");
}

#[test]
fn a_file_of_a_project_names_nothing_of_this_machine() {
    let home = Home::new(&[]);
    insta::assert_snapshot!(home.shown(&["claude-code", "--project", "--workspace", ".", "--write"]), @r#"
    exit 0
    --- stdout
    --- /dev/null
    +++ HOME/.mcp.json
    @@ -0,0 +1,9 @@
    +{
    +  "mcpServers": {
    +    "toolgate": {
    +      "type": "stdio",
    +      "command": "toolgate",
    +      "args": ["serve", "--workspace", "."]
    +    }
    +  }
    +}
    --- stderr
    wrote `toolgate` to ~/.mcp.json
    the tools cost about N tokens in every conversation, with `--lean` about N
    next: start `claude` again; `/mcp` shows it
    undo: toolgate setup claude-code --project --undo
    "#);
    insta::assert_snapshot!(home.shown(&["--project"]), @r"
    exit 0
    --- stdout
    claude-code  has file   set up in ~/.mcp.json: toolgate
    cursor       no file    would be set up in ~/.cursor/mcp.json
    vscode       no file    would be set up in ~/.vscode/mcp.json
    opencode     no file    would be set up in ~/opencode.json
    codex        no file    would be set up in ~/.codex/config.toml
    --- stderr
    next: all is set up; `toolgate tools list` shows the tools
    ");
    insta::assert_snapshot!(home.shown(&["windsurf", "--project"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: Windsurf has no file for a project
    hint: leave out `--project`
    ");
}

#[test]
fn a_broken_file_is_never_written() {
    let broken = "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}\n";
    let home = Home::new(&[(".cursor/mcp.json", broken), (".claude.json", "{\"mcpServers\": \"none\"}")]);
    insta::assert_snapshot!(home.shown(&["cursor", "--write"]), @r"
    exit 1
    --- stdout
    --- stderr
    error: HOME/.cursor/mcp.json:3:12: expected comma
    hint: write a `,` between the two values
    ");
    insta::assert_snapshot!(home.shown(&["cursor", "--undo"]), @r"
    exit 1
    --- stdout
    --- stderr
    error: HOME/.cursor/mcp.json:3:12: expected comma
    hint: write a `,` between the two values
    ");
    insta::assert_snapshot!(home.shown(&["claude-code", "--write"]), @r#"
    exit 1
    --- stdout
    --- stderr
    error: HOME/.claude.json:1:16: `mcpServers` must be an object, not a string
    hint: write `"mcpServers": {}`
    "#);
    assert_eq!(home.read(".cursor/mcp.json"), broken);
    assert!(!home.exists(".cursor/mcp.json.toolgate-backup"));
}

#[test]
fn wrong_usage_is_met_with_what_was_meant() {
    #[track_caller]
    fn check(arguments: &[&str], expect: &str) {
        let ended = Home::new(&[]).setup(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(expect), "{ended:?}");
    }
    check(&["curser"], "'cursor'");
    check(&["--write"], "<CLIENT>");
    check(&["cursor", "--write", "--undo"], "cannot be used with");
    check(&["cursor", "--http", "localhost"], "write an address such as `http://127.0.0.1:3000/mcp`");
    check(&["cursor", "--http", "http://a", "--workspace", "."], "cannot be used with");
    check(&["cursor", "--name", "a b"], "a name has 1 to 64 letters");
}

#[test]
fn the_report_in_json_says_all() {
    let home = Home::new(&[(".cursor/mcp.json", "{}")]);
    let ended = home.setup(&["cursor", "--write", "--json"]);
    assert_eq!(ended.stderr, "");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let path = home.0.path().join(".cursor/mcp.json");
    assert_eq!(
        (&report["client"], &report["action"], &report["done"]),
        (&json!("cursor"), &json!("add"), &json!(true))
    );
    assert_eq!(report["file"], json!(path));
    assert_eq!(report["backup"], json!(path.with_extension("json.toolgate-backup")));
    assert!(report["diff"].as_str().unwrap().starts_with("--- "));
    assert!(report["costs"]["lean"]["tokens"].as_u64() < report["costs"]["all"]["tokens"].as_u64());
}

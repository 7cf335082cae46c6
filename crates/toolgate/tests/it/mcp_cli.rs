//! `toolgate mcp` as people type it: on files alone, and beside a hub that runs and serves a client.

mod import;
mod running;

use std::fs;

use serde_json::Value;

use crate::process::{Ended, Place, Server, TOOLGATE, run};

/// A folder in which someone types commands.
struct Desk(Place);

impl Desk {
    fn new(toml: &str) -> Self {
        Self(Place::configured(toml))
    }

    fn type_in(&self, arguments: &[&str]) -> Ended {
        let mut command = self.0.toolgate(&["mcp"]);
        command.args(arguments);
        run(command, b"")
    }

    /// What a command that does its work prints as JSON.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let Ended { code, stdout, stderr } = self.type_in(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// What a command says, without what differs between machines.
    fn shown(&self, arguments: &[&str]) -> String {
        let Ended { code, stdout, stderr } = self.type_in(arguments);
        let here = fs::canonicalize(self.0.path()).unwrap();
        let clean = |text: &str| {
            let text = text.replace(TOOLGATE, "TOOLGATE").replace(&*here.to_string_lossy(), "HERE");
            text.replace(&*self.0.path().to_string_lossy(), "HERE")
        };
        let part = |name: &str, text: &str| {
            if text.is_empty() { String::new() } else { format!("--- {name}\n{}", clean(text)) }
        };
        format!("exit {code}\n{}{}", part("stdout", &stdout), part("stderr", &stderr))
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.path().join(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds this very binary as a server, with the tools of a folder of its own.
    fn add_own(&self, name: &str, more: &[&str]) -> Ended {
        let folder = self.0.path().join(name);
        let data = format!("TOOLGATE_DATA_DIR={}/data", folder.display());
        fs::create_dir_all(&folder).unwrap();
        let folder = folder.to_str().unwrap();
        let options = ["--cwd", folder, "--env", &data, "--env", "TOOLGATE_PACKS=memory"];
        let line = ["--", TOOLGATE, "--fixtures", "serve"];
        self.type_in(&[&["add", name], more, &options, &line].concat())
    }
}

#[test]
fn servers_are_added_listed_and_removed_and_the_rest_of_the_file_stays() {
    let toml = "# mine\npacks = [\"memory\"] # few\n";
    let desk = Desk::new(toml);
    insta::assert_snapshot!("list_empty", desk.shown(&["list"]));
    insta::assert_snapshot!("add_known", desk.shown(&["add", "filesystem", "/srv", "/data"]));
    insta::assert_snapshot!(
        "add_program",
        desk.shown(&[
            "add",
            "notes",
            "--command",
            "node",
            "--args",
            "a.js",
            "--env",
            "LEVEL=1",
            "--timeout",
            "9000"
        ])
    );
    insta::assert_snapshot!(
        "add_address",
        desk.shown(&["add", "docs", "--url", "https://d.example/mcp", "--header", "X-Key: abcdefgh1"])
    );
    insta::assert_snapshot!("file_with_servers", desk.read("toolgate.toml"));
    insta::assert_snapshot!("list_configured", desk.shown(&["list"]));
    for name in ["notes", "docs", "filesystem"] {
        assert_eq!(desk.type_in(&["remove", name]).code, 0);
    }
    assert_eq!(desk.read("toolgate.toml"), toml, "byte for byte");
}

#[test]
fn what_cannot_be_added_is_refused_with_the_next_step() {
    let desk = Desk::new("[mcp.one]\ncommand = \"x\"\n");
    insta::assert_snapshot!("refused_twice", desk.shown(&["add", "one", "--", "y"]));
    insta::assert_snapshot!("refused_name", desk.shown(&["add", "two words", "--", "y"]));
    insta::assert_snapshot!("refused_unknown", desk.shown(&["add", "filesytem", "."]));
    insta::assert_snapshot!("refused_without_path", desk.shown(&["add", "filesystem"]));
    insta::assert_snapshot!("remove_unknown", desk.shown(&["remove", "on"]));
    insta::assert_snapshot!("test_unknown", desk.shown(&["test", "nobody"]));
    assert_eq!(desk.read("toolgate.toml"), "[mcp.one]\ncommand = \"x\"\n");
    let replaced = desk.json(&["add", "one", "--force", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!((&replaced["replaced"], &replaced["running"]), (&true.into(), &false.into()));
    assert_eq!(desk.read("toolgate.toml"), "[mcp.one]\nurl = \"http://127.0.0.1:1/mcp\"\n");
}

#[test]
fn a_known_server_says_what_it_needs() {
    let desk = Desk::new("packs = [\"memory\"]\n");
    insta::assert_snapshot!("needs_secret", desk.shown(&["add", "brave-search"]));
    insta::assert_snapshot!("named_like_a_pack", desk.shown(&["add", "memory"]));
    insta::assert_snapshot!(
        "known_under_another_name",
        desk.shown(&["add", "work", "--known", "git", "/repo"])
    );
    let known = desk.json(&["known"]);
    assert!(known["items"].as_array().unwrap().len() >= 16);
    insta::assert_snapshot!("known", desk.shown(&["known"]));
}

#[test]
fn a_server_is_tried_and_what_it_has_is_told() {
    let desk = Desk::new("packs = []\n");
    assert_eq!(desk.add_own("own", &[]).code, 0);
    let Ended { code, stdout, stderr } = desk.type_in(&["test", "own"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(
        stdout.contains("✓ connected to toolgate ") && stdout.contains("memory_read, memory_write"),
        "{stdout}"
    );
    let told = desk.json(&["test", "own"]);
    assert_eq!((&told["ok"], &told["status"]["state"]), (&true.into(), &"connected".into()));
    assert!(told["tools"].as_array().unwrap().contains(&"memory_read".into()), "{told}");
    // One of the fixtures is there to be wrong.
    assert!(stdout.contains("✗ no-top-level-choice: tool `json_schema_2020_12_tool`: "), "{stdout}");
}

/// A server whose tool has no description, and no schema that could be one.
const CARELESS: &str = r#"
while read -r line; do
  id="${line#*\"id\":}"; id="${id%%[,\}]*}"
  case "$line" in
    *'"method":"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"hi","inputSchema":{"type":"hunter2-hunter2"}}]}}\n' "$id" ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
  esac
done
"#;

#[test]
fn what_is_wrong_with_the_definitions_of_a_server_is_told_when_it_is_tried() {
    let desk = Desk::new("packs = []\n");
    let line = ["add", "careless", "--env", "KEY=hunter2-hunter2", "--", "sh", "-c", CARELESS];
    assert_eq!(desk.type_in(&line).code, 0);
    let Ended { code, stdout, stderr } = desk.type_in(&["test", "careless"]);
    assert_eq!(code, 0, "it answers: {stdout}{stderr}");
    assert!(stdout.contains("  ✗ input-schema: tool `hi`: "), "{stdout}");
    assert!(stdout.contains("  ✗ tool-description: tool `hi`: "), "{stdout}");
    assert!(stdout.contains("`toolgate check careless` says how to mend it"), "{stdout}");
    assert!(!stdout.contains("hunter2"), "{stdout}");
    let told = desk.json(&["test", "careless"]);
    let second = &told["findings"][1];
    assert_eq!((&second["rule"], &second["level"]), (&"input-schema".into(), &"error".into()), "{told}");
    assert!(second["mend"].is_string() && !told.to_string().contains("hunter2"), "{told}");
}

#[test]
fn a_server_that_fails_is_told_with_what_it_wrote_and_without_secrets() {
    let desk = Desk::new("packs = []\n");
    let line = ["--", "sh", "-c", "echo \"cannot: $KEY\" >&2; printf '\\033[31mred\\n' >&2; exit 3"];
    let added = desk.type_in(&[&["add", "bad", "--env", "KEY=hunter2-hunter2"], &line[..]].concat());
    assert!(!added.stdout.contains("hunter2") && added.stderr.contains("looks like a secret"), "{added:?}");
    let Ended { code, stdout, .. } = desk.type_in(&["test", "bad"]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("✗ failed") && stdout.contains("| cannot: [REDACTED"), "{stdout}");
    assert!(!stdout.contains("hunter2") && !stdout.contains('\u{1b}'), "{stdout}");
    assert_eq!(desk.type_in(&["add", "gone", "--", "/not/there"]).code, 0);
    let Ended { code, stdout, .. } = desk.type_in(&["status"]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("✗ bad  failed") && stdout.contains("✗ gone  failed"), "{stdout}");
    assert!(stdout.contains("install the program"), "{stdout}");
}

#[test]
fn a_server_that_was_switched_off_is_not_started_by_the_next_hub() {
    let place =
        Place::configured("[mcp.one]\ncommand = \"touch\"\nargs = [\"started\"]\nstart = \"eager\"\n");
    let folder = place.path().to_owned();
    assert_eq!(run(place.toolgate(&["mcp", "disable", "one"]), b"").code, 0);
    let server = Server::start_in(place, &[]);
    let health: Value = serde_json::from_str(&server.get("/health").send().text()).unwrap();
    assert_eq!(health["upstreams"]["one"], "disabled");
    let _place = server.kill();
    assert!(!folder.join("started").exists());
}

#[test]
fn where_no_hub_runs_commands_that_need_one_say_so() {
    let desk = Desk::new("[mcp.one]\ncommand = \"x\"\n");
    for arguments in [&["reload"][..], &["restart", "one"], &["logs", "one"]] {
        let Ended { code, stdout, stderr } = desk.type_in(arguments);
        assert_eq!((code, &*stdout), (1, ""), "{arguments:?}");
        assert!(stderr.contains("no toolgate runs on") && stderr.contains("hint: "), "{stderr}");
    }
    assert_eq!(desk.json(&["disable", "one"])["running"], false);
    let listed = desk.json(&["list"]);
    assert_eq!(listed["items"][0]["state"], "disabled");
    assert_eq!(desk.read("toolgate.toml"), "[mcp.one]\ncommand = \"x\"\n", "a switch is no configuration");
    assert_eq!(desk.json(&["enable", "one"])["running"], false);
    assert_eq!(desk.json(&["list"])["items"][0]["state"], Value::Null);
}

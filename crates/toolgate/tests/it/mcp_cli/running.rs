//! Beside a hub that runs: what is typed shows at once to the client that it serves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::Desk;
use crate::process::{PATIENCE, peers, run, unlimited, until};

/// A client on standard input and output of a hub.
struct Client {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// How many times it was told that the tools are others.
    told: usize,
    /// How many times it was told that a resource is not what it was.
    updated: usize,
    asked: u64,
}

impl Client {
    fn start(desk: &Desk) -> Self {
        let mut command = desk.0.toolgate(&["serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take().unwrap();
        let mut client = Self { child, input, messages, told: 0, updated: 0, asked: 0 };
        client.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer");
            if message["id"] == id {
                return message;
            }
            self.hear(&message);
        }
    }

    fn hear(&mut self, message: &Value) {
        self.told += usize::from(message["method"] == "notifications/tools/list_changed");
        self.updated += usize::from(message["method"] == "notifications/resources/updated");
    }

    /// Waits until it is told that the tools are others than before.
    #[track_caller]
    fn is_told(&mut self, before: usize) {
        while self.told == before {
            let message =
                self.messages.recv_timeout(PATIENCE).expect("a notification that the tools changed");
            self.hear(&message);
        }
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Has the server change its resource until the client is told of it, by a connection that is there again.
    fn is_told_of_changes(&mut self, when: &str) {
        // What it was told before this counts no more.
        self.ask("ping", json!({}));
        let before = self.updated;
        until(&format!("the client is told {when}"), || {
            self.ask("tools/call", json!({"name": "own_test_touch_resource", "arguments": {}}));
            self.updated > before
        });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It is waited for all the same, so that nothing of it is left.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn is_running(process: u64) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

fn processes(desk: &Desk, name: &str) -> Vec<u64> {
    let status = desk.json(&["status", name]);
    let processes = status["items"][0]["processes"].as_array().cloned().unwrap_or_default();
    processes.iter().map(|process| process.as_u64().unwrap()).collect()
}

/// A hub without packs, whose client has told that it is there.
fn start(desk: &Desk) -> Client {
    let client = Client::start(desk);
    until("the hub can be asked", || desk.json(&["list"])["running"] == true);
    client
}

#[test]
fn a_client_sees_servers_come_go_and_be_switched_without_a_restart() {
    let desk = Desk::new(&unlimited("packs = []"));
    let mut client = start(&desk);
    assert_eq!(client.tools(), Vec::<String>::new());

    let before = client.told;
    let added = desk.add_own("own", &[]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert!(added.stdout.contains("✓ own connected"), "{}", added.stdout);
    client.is_told(before);
    until("its tools are listed", || client.tools().contains(&"own_memory_read".to_owned()));

    let before = client.told;
    assert_eq!(desk.json(&["disable", "own"])["status"]["state"], "disabled");
    client.is_told(before);
    until("its tools are gone", || client.tools().is_empty());
    until("its program has ended", || processes(&desk, "own").is_empty());

    let before = client.told;
    assert_eq!(desk.json(&["enable", "own"])["status"]["state"], "connected");
    client.is_told(before);
    until("its tools are back", || client.tools().contains(&"own_memory_read".to_owned()));

    let before = client.told;
    assert_eq!(desk.type_in(&["remove", "own"]).code, 0);
    client.is_told(before);
    until("its tools are gone", || client.tools().is_empty());
    assert_eq!(desk.json(&["list"])["items"], json!([]));
}

#[test]
fn a_real_server_is_restarted_as_another_process_and_ends_when_it_is_removed() {
    let desk = Desk::new(&unlimited("packs = []"));
    let mut client = start(&desk);
    let (node, modules) = (peers().join("bin/node"), peers().join("node_modules"));
    let server = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let line = ["--", node.to_str().unwrap(), server.to_str().unwrap()];
    let added = desk.type_in(&[&["add", "everything"], &line[..]].concat());
    assert!(added.stdout.contains("✓ everything connected, 1"), "{added:?}");
    until("its tools are listed", || client.tools().contains(&"everything_echo".to_owned()));
    let echo = json!({"name": "everything_echo", "arguments": {"message": "hello"}});
    let answer = client.ask("tools/call", echo.clone());
    assert!(answer.to_string().contains("hello"), "{answer}");

    let old = processes(&desk, "everything");
    assert_eq!(old.len(), 1, "one that was just used runs");
    assert_eq!(desk.json(&["restart", "everything"])["status"]["state"], "connected");
    let new = processes(&desk, "everything");
    assert!(new.len() == 1 && new != old, "{old:?} {new:?}");
    until("the old one has ended", || !is_running(old[0]));
    assert!(client.ask("tools/call", echo).to_string().contains("hello"));

    let logs = desk.type_in(&["logs", "everything"]);
    assert!(logs.stdout.contains("Starting default (STDIO) server"), "{logs:?}");
    assert_eq!(desk.json(&["logs", "everything"])["name"], "everything");

    let new = processes(&desk, "everything");
    assert_eq!(desk.type_in(&["remove", "everything"]).code, 0);
    until("its process has ended", || !new.iter().any(|process| is_running(*process)));
    assert_eq!(desk.type_in(&["status", "everything"]).code, 2);
}

#[test]
fn what_is_imported_with_its_secrets_is_used_at_once_and_gone_when_it_is_taken_back() {
    let desk = Desk::new(&unlimited("packs = []"));
    let server = peers().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let entry =
        json!({"command": peers().join("bin/node"), "args": [server], "env": {"MY_TOKEN": "hunter2hunter2"}});
    desk.write(".cursor/mcp.json", &json!({"mcpServers": {"everything": entry}}).to_string());
    let mut client = start(&desk);
    let imported = desk.type_in(&["import", "--write", "--secrets"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    until("its tools are listed", || client.tools().contains(&"everything_get-env".to_owned()));
    let answer = client.ask("tools/call", json!({"name": "everything_get-env", "arguments": {}})).to_string();
    assert!(answer.contains("[REDACTED:MY_TOKEN]") && !answer.contains("hunter2"), "{answer}");
    assert_eq!(desk.type_in(&["import", "--undo"]).code, 0);
    until("its tools are gone", || client.tools().is_empty());
}

#[test]
fn one_that_rests_is_learned_anew_when_it_is_restarted() {
    let desk = Desk::new(&unlimited("packs = []"));
    let _client = start(&desk);
    assert_eq!(desk.add_own("own", &[]).code, 0);
    until("it rests", || processes(&desk, "own").is_empty());
    let restarted = desk.json(&["restart", "own"]);
    assert_eq!(restarted["status"]["processes"].as_array().unwrap().len(), 1, "{restarted}");
}

/// A hub that runs where another file counts.
#[test]
fn who_writes_to_another_file_than_the_hub_reads_hears_of_it() {
    let desk = Desk::new(&unlimited("packs = []"));
    let _client = start(&desk);
    let project = desk.0.path().join("project");
    desk.write("project/toolgate.toml", "packs = []\n");
    let type_in = |arguments: &[&str]| {
        let mut command = desk.0.toolgate(&["mcp"]);
        command.args(arguments).current_dir(&project);
        run(command, b"")
    };
    let added = type_in(&["add", "odd", "--", "/bin/false"]);
    let other = "has no server `odd`: it reads `";
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.stderr.contains(other) && added.stderr.contains("project/toolgate.toml"), "{added:?}");
    let status = type_in(&["status", "odd"]);
    assert!(status.stderr.contains(other) && !status.stderr.contains("no toolgate runs"), "{status:?}");
    for arguments in [["status", "odd", "--json"], ["disable", "odd", "--json"]] {
        let told: Value = serde_json::from_str(&type_in(&arguments).stdout).unwrap();
        assert_eq!(told["running"], true, "{told}");
    }
    let removed = type_in(&["remove", "odd"]);
    assert!(removed.code == 0 && !removed.stderr.contains("the running hub"), "{removed:?}");
    desk.write(".cursor/mcp.json", r#"{"mcpServers": {"even": {"command": "/bin/false"}}}"#);
    let imported = type_in(&["import", "--write"]);
    let other = "has no server `even`: it reads `";
    assert!(imported.stderr.contains(other) && !imported.stderr.contains("has read it"), "{imported:?}");
    assert!(desk.json(&["list"])["items"].as_array().unwrap().is_empty(), "the hub has none");
}

/// A hub that runs where another file counts, asked for all servers.
#[test]
fn who_asks_a_hub_that_reads_another_file_how_all_stand_hears_which_of_theirs_it_does_not_have() {
    let desk = Desk::new(&unlimited("packs = []"));
    let _client = start(&desk);
    let project = desk.0.path().join("project");
    desk.write("project/toolgate.toml", "[mcp.odd]\ncommand = \"x\"\n");
    let status = |more: &[&str]| {
        let mut command = desk.0.toolgate(&["mcp", "status"]);
        command.args(more).current_dir(&project);
        run(command, b"")
    };
    let one = status(&[]);
    assert!(one.stderr.contains("has no server `odd`: it reads `"), "{one:?}");
    assert!(!one.stderr.contains("there are no servers"), "{one:?}");
    desk.write("project/toolgate.toml", "[mcp.odd]\ncommand = \"x\"\n[mcp.queer]\ncommand = \"x\"\n");
    for more in [&[][..], &["--json"]] {
        let both = status(more);
        let why = ") has no servers `odd`, `queer`: it reads `";
        assert!(both.stderr.contains("note: the toolgate that runs (process "), "{both:?}");
        assert!(both.stderr.contains(why) && both.stderr.contains("project/toolgate.toml"), "{both:?}");
        assert!(both.code == 0 && !both.stdout.contains("odd"), "{both:?}");
    }
    // One whose file was just written has it in a moment.
    desk.write("toolgate.toml", &unlimited("packs = []\n[mcp.own]\ncommand = \"x\"\nenabled = false\n"));
    let own = desk.type_in(&["status"]);
    assert!(own.stdout.contains("own  disabled") && !own.stderr.contains("note: "), "{own:?}");
}

#[test]
fn a_server_that_fails_is_shown_with_the_next_step() {
    let desk = Desk::new(&unlimited("packs = []"));
    let _client = start(&desk);
    let added = desk.type_in(&["add", "bad", "--", "sh", "-c", "echo no module >&2; exit 1"]);
    assert_eq!(added.code, 0, "it is added all the same: {added:?}");
    assert!(added.stdout.contains("✗ bad failed"), "{}", added.stdout);
    let status = desk.type_in(&["status", "bad"]);
    assert_eq!(status.code, 1);
    assert!(status.stdout.contains("next        toolgate mcp logs bad"), "{}", status.stdout);
    assert!(status.stdout.contains("it wrote    no module"), "{}", status.stdout);
    until("what it wrote is told", || desk.type_in(&["logs", "bad"]).stdout.contains("no module\n"));
    let reloaded = desk.type_in(&["reload"]);
    assert_eq!((reloaded.code, reloaded.stderr.trim()), (0, "nothing changed"));
}

#[test]
fn a_client_is_told_of_what_it_watches_whatever_becomes_of_the_table_of_its_server() {
    let desk = Desk::new(&unlimited("packs = []"));
    let mut client = start(&desk);
    assert_eq!(desk.add_own("own", &[]).code, 0);
    let is_there = |client: &mut Client| client.tools().contains(&"own_test_touch_resource".to_owned());
    until("its tools are listed", || is_there(&mut client));
    let watched = json!({"uri": "test://watched-resource"});
    assert_eq!(client.ask("resources/subscribe", watched.clone())["result"], json!({}));
    client.is_told_of_changes("at first");

    assert_eq!(desk.json(&["disable", "own"])["status"]["state"], "disabled");
    until("its tools are gone", || client.tools().is_empty());
    assert_eq!(desk.json(&["enable", "own"])["status"]["state"], "connected");
    client.is_told_of_changes("when it is switched on again");

    let toml = desk.read("toolgate.toml");
    let old = processes(&desk, "own");
    desk.write("toolgate.toml", &toml.replace("[mcp.own]\n", "[mcp.own]\ntimeout = 61_000\n"));
    until("the old one has ended", || !old.iter().any(|process| is_running(*process)));
    client.is_told_of_changes("when its table is another");

    // One that cannot be used for a while is no other.
    desk.write("toolgate.toml", &toml.replace("--fixtures", "{secret:missing}"));
    until("its table is refused", || desk.json(&["list"])["items"][0]["state"] == "failed");
    desk.write("toolgate.toml", &toml);
    until("its tools are back", || is_there(&mut client));
    client.is_told_of_changes("when its table is mended");

    // While it is off, a client may cease to watch.
    assert_eq!(desk.json(&["disable", "own"])["status"]["state"], "disabled");
    until("its tools are gone", || client.tools().is_empty());
    assert_eq!(client.ask("resources/unsubscribe", watched)["result"], json!({}));
}

//! The servers that people use, from the registries, behind the running binary: each listed, called, killed, hung and
//! restarted while the others serve.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{Place, Server, TOOLGATE, peers, run, unlimited, until};

/// A server, and a call that shows that it works.
struct Peer {
    name: &'static str,
    table: String,
    tool: &'static str,
    arguments: Value,
    expect: &'static str,
}

/// The table of a server from npm.
fn npm(package: &str, more: &str) -> String {
    let (node, script) = (peers().join("bin/node"), peers().join("node_modules").join(package));
    format!("command = {node:?}\nargs = [{script:?}{more}]")
}

/// The table of a reference server.
fn reference(name: &str, more: &str) -> String {
    npm(&format!("@modelcontextprotocol/{name}/dist/index.js"), more)
}

/// The table of a server from PyPI.
fn pypi(name: &str, more: &str) -> String {
    format!("command = {:?}\nargs = [{more}]", peers().join(".venv/bin").join(name))
}

fn from_npm(folder: &str) -> Vec<Peer> {
    let peer = |name, table, tool, arguments, expect| Peer { name, table, tool, arguments, expect };
    let memory = reference("server-memory", "");
    let memory = format!("{memory}\nenv = {{ MEMORY_FILE_PATH = \"{folder}/memory.jsonl\" }}");
    let files = reference("server-filesystem", &format!(", \"{folder}\""));
    let note = json!({"path": format!("{folder}/note.txt")});
    let thought =
        json!({"thought": "first", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let message = json!({"message": "hi there"});
    let thinking = reference("server-sequential-thinking", "");
    let browser = npm("@playwright/mcp/cli.js", ", \"--headless\"");
    vec![
        peer("everything", reference("server-everything", ""), "echo", message, "hi there"),
        peer("filesystem", files, "read_text_file", note, "hello from a file"),
        peer("graph", memory, "read_graph", json!({}), "entities"),
        peer("thinking", thinking, "sequentialthinking", thought, "thoughtHistoryLength"),
        peer("playwright", browser, "browser_close", json!({}), ""),
    ]
}

fn from_pypi(folder: &str) -> Vec<Peer> {
    let peer = |name, table, tool, arguments, expect| Peer { name, table, tool, arguments, expect };
    let git = pypi("mcp-server-git", &format!("\"--repository\", \"{folder}\""));
    let time = pypi("mcp-server-time", "\"--local-timezone\", \"UTC\"");
    // It asks for `robots.txt` first, which nobody serves there.
    let nowhere = json!({"url": "http://127.0.0.1:9/"});
    vec![
        peer("git", git, "git_status", json!({"repo_path": folder}), "No commits yet"),
        peer("fetch", pypi("mcp-server-fetch", ""), "fetch", nowhere, "127.0.0.1:9"),
        peer("time", time, "get_current_time", json!({"timezone": "Europe/Berlin"}), "Berlin"),
    ]
}

/// The hub with all of them.
struct Scene {
    server: Server,
    home: std::path::PathBuf,
    peers: Vec<Peer>,
}

impl Scene {
    fn start(peers: fn(&str) -> Vec<Peer>) -> Self {
        let place = Place::new();
        let home = place.path().canonicalize().unwrap();
        std::fs::write(home.join("note.txt"), "hello from a file").unwrap();
        let mut git = place.command("git");
        assert!(git.args(["init", "--quiet"]).status().unwrap().success());
        let peers = peers(home.to_str().unwrap());
        let tables: String = peers
            .iter()
            .map(|peer| {
                format!("[mcp.{}]\n{}\ntimeout = 60000\nstartup_timeout = 120000\n", peer.name, peer.table)
            })
            .collect();
        std::fs::write(home.join("toolgate.toml"), unlimited(&format!("packs = []\n{tables}"))).unwrap();
        Self { server: Server::start_in(place, &[]), home, peers }
    }

    fn toolgate(&self, arguments: &[&str]) -> Value {
        let mut command = Place::command_in(&self.home, TOOLGATE);
        command.args(arguments);
        let ended = run(command, b"");
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap_or_default()
    }

    fn tools(&self) -> Vec<String> {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let answer: Value = serde_json::from_str(&self.server.post(list).send().text()).unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Calls a server, which may fail by itself but not for lack of a server.
    #[track_caller]
    fn call(&self, peer: &Peer) {
        let params = json!({"name": format!("{}_{}", peer.name, peer.tool), "arguments": peer.arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let text = self.server.post(call).send().text();
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let ours = &answer["result"]["_meta"]["dev.toolgate/error"];
        assert!(answer["result"]["content"].is_array() && ours.is_null(), "{}: {text}", peer.name);
        assert!(text.contains(peer.expect), "{}: {text}", peer.name);
    }

    /// The processes of a server that run now.
    fn processes(&self, name: &str) -> Vec<Pid> {
        let told = self.toolgate(&["mcp", "status", name, "--json"]);
        let found = find(&told, "processes").unwrap_or_else(|| panic!("{told}"));
        found
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|id| Pid::from_raw(id.as_i64()?.try_into().ok()?))
            .collect()
    }

    /// Waits until none of these processes of a server is left, and, where it may not be without, others are there.
    fn until_others_than(&self, before: &[Pid], peer: &Peer, may_be_none: bool) {
        until("other processes run", || {
            let now = self.processes(peer.name);
            (may_be_none || !now.is_empty()) && now.iter().all(|process| !before.contains(process))
        });
    }

    fn signal(&self, name: &str, signal: Signal) {
        for process in self.processes(name) {
            // One that is not used any more may just have ended by itself.
            kill_process(process, signal).ok();
        }
    }
}

/// The first value with this key, wherever it is.
fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => {
            object.get(key).or_else(|| object.values().find_map(|inner| find(inner, key)))
        }
        Value::Array(items) => items.iter().find_map(|inner| find(inner, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[test]
fn servers_from_npm_are_listed_called_killed_hung_and_restarted() {
    check(from_npm);
}

#[test]
fn servers_from_pypi_are_listed_called_killed_hung_and_restarted() {
    check(from_pypi);
}

fn check(peers: fn(&str) -> Vec<Peer>) {
    let scene = Scene::start(peers);
    for peer in &scene.peers {
        let name = format!("{}_{}", peer.name, peer.tool);
        until(&format!("`{name}` is listed"), || scene.tools().contains(&name));
        scene.call(peer);
    }
    for (at, peer) in scene.peers.iter().enumerate() {
        // Whatever is done to one, another goes on.
        let other = &scene.peers[(at + 1) % scene.peers.len()];
        let before = scene.processes(peer.name);
        scene.signal(peer.name, Signal::KILL);
        scene.call(other);
        // A call that may have been done is not done again, so the death has to be known.
        scene.until_others_than(&before, peer, true);
        scene.call(peer);
        scene.signal(peer.name, Signal::STOP);
        scene.call(other);
        scene.signal(peer.name, Signal::CONT);
        scene.call(peer);
        let before = scene.processes(peer.name);
        scene.toolgate(&["mcp", "restart", peer.name]);
        scene.call(other);
        scene.call(peer);
        scene.until_others_than(&before, peer, false);
    }
}

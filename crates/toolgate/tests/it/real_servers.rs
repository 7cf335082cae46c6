//! The servers that people use, from the registries, behind the running binary: each listed, called, killed, hung and
//! restarted while the others serve.

mod page;

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{Place, Server, TOOLGATE, peers, run, unlimited, until};

/// How long a server may take for an answer. Each is waited for so long once, when it hangs.
const LIMIT: Duration = Duration::from_secs(5);

/// The same for one that starts a Chromium first.
const LONGER: Duration = Duration::from_secs(20);

/// A server, and a call that shows that it works.
struct Peer {
    name: &'static str,
    table: String,
    limit: Duration,
    /// What has to be called first.
    before: Option<(&'static str, Value)>,
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

/// One that is quick, and what its answer has to say.
fn peer(
    name: &'static str,
    table: String,
    (tool, arguments, expect): (&'static str, Value, &'static str),
) -> Peer {
    Peer { name, table, limit: LIMIT, before: None, tool, arguments, expect }
}

fn from_npm(folder: &str, page: &str) -> Vec<Peer> {
    let memory = reference("server-memory", "");
    let memory = format!("{memory}\nenv = {{ MEMORY_FILE_PATH = \"{folder}/memory.jsonl\" }}");
    let files = reference("server-filesystem", &format!(", \"{folder}\""));
    let note = json!({"path": format!("{folder}/note.txt")});
    let thought =
        json!({"thought": "first", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let message = json!({"message": "hi there"});
    let thinking = reference("server-sequential-thinking", "");
    let snapshot = ("browser_snapshot", json!({}), page::WORDS);
    let before = Some(("browser_navigate", json!({"url": page})));
    vec![
        peer("everything", reference("server-everything", ""), ("echo", message, "hi there")),
        peer("filesystem", files, ("read_text_file", note, "hello from a file")),
        peer("graph", memory, ("read_graph", json!({}), "entities")),
        peer("thinking", thinking, ("sequentialthinking", thought, "thoughtHistoryLength")),
        Peer { limit: LONGER, before, ..peer("playwright", playwright(folder), snapshot) },
    ]
}

/// Playwright with the Chromium of this machine. The page is ours, so that it needs no sandbox, which not every machine
/// lets it have; what it keeps, it keeps where it goes with the test.
fn playwright(folder: &str) -> String {
    let chromium = page::chromium();
    let flags = format!(
        ", \"--headless\", \"--isolated\", \"--no-sandbox\", \"--executable-path\", {chromium:?}, \
         \"--output-dir\", \"{folder}/output\""
    );
    format!("{}\nenv = {{ TMPDIR = {folder:?} }}", npm("@playwright/mcp/cli.js", &flags))
}

fn from_pypi(folder: &str, page: &str) -> Vec<Peer> {
    let git = pypi("mcp-server-git", &format!("\"--repository\", \"{folder}\""));
    let time = pypi("mcp-server-time", "\"--local-timezone\", \"UTC\"");
    let fetch = pypi("mcp-server-fetch", "\"--allow-private-ips\"");
    // As it is: to make it readable, the server would install more from npm.
    let fetching = json!({"url": page, "raw": true});
    vec![
        peer("git", git, ("git_status", json!({"repo_path": folder}), "No commits yet")),
        peer("fetch", fetch, ("fetch", fetching, page::WORDS)),
        peer("time", time, ("get_current_time", json!({"timezone": "Europe/Berlin"}), "Berlin")),
    ]
}

/// The hub with all of them.
struct Scene {
    server: Server,
    home: std::path::PathBuf,
    peers: Vec<Peer>,
}

impl Scene {
    fn start(peers: Peers) -> Self {
        let place = Place::new();
        let home = place.path().canonicalize().unwrap();
        std::fs::write(home.join("note.txt"), "hello from a file").unwrap();
        let mut git = place.command("git");
        assert!(git.args(["init", "--quiet"]).status().unwrap().success());
        let peers = peers(home.to_str().unwrap(), &page::serve());
        let tables: String = peers
            .iter()
            .map(|Peer { name, table, limit, .. }| {
                let limit = limit.as_millis();
                format!("[mcp.{name}]\n{table}\ntimeout = {limit}\nstartup_timeout = 120000\n")
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

    /// Calls a server.
    fn ask(&self, peer: &Peer, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": format!("{}_{tool}", peer.name), "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        self.server.post(call).send().json()
    }

    /// Calls a server, which does what it is there for.
    #[track_caller]
    fn call(&self, peer: &Peer) {
        let done = |tool, arguments| {
            let answer = self.ask(peer, tool, arguments);
            assert_ne!(answer["result"]["isError"], true, "{}: {answer}", peer.name);
            answer["result"]["content"].to_string()
        };
        if let Some((tool, arguments)) = &peer.before {
            done(tool, arguments);
        }
        let said = done(peer.tool, &peer.arguments);
        assert!(said.contains(peer.expect), "{}: {said}", peer.name);
    }

    /// Calls a server that hangs. The call ends by its time-out, and until then another is not kept waiting.
    #[track_caller]
    fn call_in_vain(&self, peer: &Peer, other: &Peer) {
        let begun = Instant::now();
        let answer = thread::scope(|scope| {
            let call = scope.spawn(|| self.ask(peer, peer.tool, &peer.arguments));
            self.call(other);
            assert!(!call.is_finished(), "`{}` answered, or `{}` waited for it", peer.name, other.name);
            call.join().unwrap()
        });
        assert!(begun.elapsed() >= peer.limit, "`{}` was given up too early", peer.name);
        let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let expect = format!("`{}` did not answer within {} ms", peer.name, peer.limit.as_millis());
        assert!(said.contains(&expect) && said.contains(&format!("`mcp.{}.timeout`", peer.name)), "{answer}");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["_meta"]["dev.toolgate/error"]["category"], "timeout", "{answer}");
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

/// Servers, told a folder and the address of a page.
type Peers = fn(&str, &str) -> Vec<Peer>;

fn check(peers: Peers) {
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
        scene.call_in_vain(peer, other);
        scene.signal(peer.name, Signal::CONT);
        scene.call(peer);
        let before = scene.processes(peer.name);
        scene.toolgate(&["mcp", "restart", peer.name]);
        scene.call(other);
        scene.call(peer);
        scene.until_others_than(&before, peer, false);
    }
}

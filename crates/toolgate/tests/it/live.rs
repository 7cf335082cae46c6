//! A configuration that changes while the server runs: no client is dropped, and what is broken changes nothing.

use serde_json::{Value, json};

use crate::process::{Place, Server, replace, run, unlimited, until};

/// A server in a folder whose `toolgate.toml` can be changed.
struct Live {
    server: Server,
    file: std::path::PathBuf,
}

impl Live {
    fn start(toml: &str) -> Self {
        let place = Place::configured(&unlimited(toml));
        let file = place.path().join("toolgate.toml");
        Self { server: Server::start_in(place, &[]), file }
    }

    fn write(&self, toml: &str) {
        replace(&self.file, &unlimited(toml));
    }

    fn tools(&self) -> Vec<String> {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let answer: Value = serde_json::from_str(&self.server.post(list).send().text()).unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn health(&self) -> String {
        let answer: Value = serde_json::from_str(&self.server.get("/health").send().text()).unwrap();
        answer["status"].as_str().unwrap().to_owned()
    }

    fn status(&self) -> u16 {
        self.server.get("/api").send().status
    }
}

#[test]
fn packs_come_and_go_while_the_server_runs() {
    let live = Live::start("packs = [\"workspace\"]\n");
    assert!(live.tools().iter().all(|tool| tool.starts_with("workspace_")));
    live.write("packs = [\"memory\"]\n");
    until("only the memory is listed", || live.tools() == ["memory_read", "memory_write"]);
}

#[test]
fn a_pack_comes_and_goes_with_its_secret() {
    let live = Live::start("packs = [\"web\", \"github\"]\n[github]\ntoken = \"{secret:GITHUB_TOKEN}\"\n");
    let has_github = || live.tools().iter().any(|tool| tool == "github_list_issues");
    let secret = |words: &[&str], value: &[u8]| {
        let ended = run(live.server.place.toolgate(&[&["secret"], words].concat()), value);
        assert_eq!(ended.code, 0, "{ended:#?}");
    };
    assert!(!has_github());
    secret(&["set", "GITHUB_TOKEN"], b"github_pat_sesame");
    until("the tools are there", has_github);
    // What is no token leaves the old one in force, and says so without showing it.
    secret(&["set", "GITHUB_TOKEN"], b"github pat sesame");
    until("the health says that something is wrong", || live.health() == "degraded");
    until("the log says so", || live.server.log().contains("`github.token` is no token"));
    assert!(has_github() && !live.server.log().contains("sesame"));
    secret(&["remove", "GITHUB_TOKEN"], b"");
    until("the tools are gone", || live.tools() == ["web_fetch"]);
    assert_eq!(live.health(), "ready");
}

#[test]
fn a_broken_file_leaves_the_old_settings_in_force_and_says_so() {
    let live = Live::start("packs = [\"memory\"]\n");
    assert_eq!(live.health(), "ready");
    live.write("packs = [\"memory\", \"nonsense\"]\n");
    until("the health says that something is wrong", || live.health() == "degraded");
    assert_eq!(live.tools(), ["memory_read", "memory_write"]);
    until("the log names the place", || live.server.log().contains("toolgate.toml:1:"));
    // Whoever asks how it is learns both: that it runs as it did, and what is wrong with the file.
    let told = run(live.server.place.toolgate(&["status"]), b"");
    assert_eq!(told.code, 2, "{told:#?}");
    assert!(told.stdout.contains("sources  memory\n") && told.stdout.contains("trouble  "), "{told:#?}");
    assert!(told.stderr.contains("toolgate.toml:1:"), "{told:#?}");
    let told = run(live.server.place.toolgate(&["status", "--json"]), b"");
    let status: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((told.code, &status["running"], &status["sources"]), (2, &json!(true), &json!(["memory"])));
    live.write("packs = [\"workspace\"]\n");
    until("all is well again", || live.health() == "ready");
    assert!(live.tools().iter().all(|tool| tool.starts_with("workspace_")));
}

#[test]
fn a_folder_that_does_not_exist_leaves_the_old_one_in_force() {
    let live = Live::start("packs = [\"workspace\"]\n");
    live.write("packs = [\"workspace\"]\n[workspace]\nroot = \"not-there\"\n");
    until("the health says that something is wrong", || live.health() == "degraded");
    assert_eq!(live.tools(), ["workspace_list", "workspace_read", "workspace_write"]);
}

#[test]
fn a_token_is_demanded_from_the_moment_it_is_set() {
    let live = Live::start("");
    assert_eq!(live.status(), 200);
    live.write("[http]\ntoken = \"a long enough word\"\n");
    until("the token is demanded", || live.status() == 401);
    live.write("[http]\ntoken = \"short\"\n");
    until("a token that is too short is refused", || live.health() == "degraded");
    assert_eq!(live.status(), 401, "the old token stays in force");
}

#[test]
fn the_log_gets_as_talkative_as_it_is_set() {
    let live = Live::start("[log]\nlevel = \"info\"\n");
    live.tools();
    assert!(!live.server.log().contains("DEBUG"), "{}", live.server.log());
    live.write("[log]\nlevel = \"debug\"\n");
    until("debug lines are logged", || {
        live.tools();
        live.server.log().contains("DEBUG")
    });
}

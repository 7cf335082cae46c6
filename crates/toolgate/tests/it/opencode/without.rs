//! Without an OpenCode, and with several words on where it is.

use std::fs;

use serde_json::{Value, json};
use toolgate_testkit::RealOpencode;

use super::Scene;
use crate::process::{Ended, Place, run};

#[test]
fn without_opencode_the_tools_are_listed_and_say_how_to_get_it() {
    let place = Place::configured("packs = ['opencode']\n");
    let mut command = place.toolgate(&["tools", "list", "--json"]);
    command.env("PATH", "/nowhere");
    let listed: Value = serde_json::from_str(&run(command, b"").stdout).unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 29);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "opencode_session_list", "arguments": {}}});
    let mut command = place.toolgate(&["serve"]);
    command.env("PATH", "/nowhere");
    let Ended { stdout, .. } = run(command, format!("{call}\n").as_bytes());
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["_meta"]["dev.toolgate/error"]["category"], "connectionFailed", "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("OpenCode is not installed") && text.contains("npm install -g opencode-ai"),
        "{text}"
    );
}

#[test]
fn variables_come_before_our_file_and_that_before_opencode_s() {
    let scene = Scene::new("layers");
    let place = Place::new();
    let (host, port) = scene.opencode.address.split_once(':').unwrap();
    let theirs = format!("{{ // theirs\n \"server\": {{\"hostname\": \"{host}\", \"port\": {port}}} }}");
    fs::write(place.path().join("opencode.jsonc"), theirs).unwrap();
    let other = Scene::path(&scene, "other");
    fs::create_dir(&other).unwrap();
    let list = |variables: &[(&str, &str)]| {
        let mut command = place.toolgate(&["tools", "call", "opencode_session_create", "--json"]);
        command.env("OPENCODE_SERVER_PASSWORD", RealOpencode::PASSWORD);
        command.env("OPENCODE_DEFAULT_PROJECT", &other).envs(variables.iter().copied());
        run(command, b"")
    };
    let works = |ended: Ended| {
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(&other), "the project is that of the variable: {}", ended.stdout);
    };
    let fails = |ended: Ended, words: &str| {
        assert!([1, 2].contains(&ended.code), "{ended:?}");
        let said = ended.stdout + &ended.stderr;
        assert!(said.contains(words), "{said}");
    };
    works(list(&[]));
    fs::write(place.path().join("toolgate.toml"), "[opencode]\nserver_url = 'http://127.0.0.1:9'\n").unwrap();
    fails(list(&[]), "`http://127.0.0.1:9` cannot be reached");
    let url = format!("http://{}", scene.opencode.address);
    works(list(&[("OPENCODE_SERVER_URL", &url)]));
    fails(list(&[("OPENCODE_SERVER_URL", &url), ("OPENCODE_SERVER_PASSWORD", "no")]), "refuses the password");
    fails(list(&[("OPENCODE_SERVER_URL", &url), ("OPENCODE_TIMEOUT", "soon")]), "OPENCODE_TIMEOUT");
    let off = [("OPENCODE_AUTO_START", "false"), ("OPENCODE_SERVER_PASSWORD", "no")];
    fs::write(place.path().join("toolgate.toml"), "").unwrap();
    fs::remove_file(place.path().join("opencode.jsonc")).unwrap();
    fails(list(&off), "none may be started");
}

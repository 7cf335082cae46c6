//! The policy as its users meet it: rules, approvals, secrets, tokens and the record, across processes.

mod approvals;
mod attacks;
mod killed;
mod record;
mod rules;
mod secrets;
mod shares;
mod tokens;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::{Ended, Place, Server, TOOLGATE, replace, run, unlimited};

/// A server, and commands that work on the same data.
struct Desk {
    server: Server,
    home: std::path::PathBuf,
}

impl Desk {
    /// A server on a workspace with two files, under this configuration.
    fn start(toml: &str) -> Self {
        Self::start_with(toml, &[])
    }

    fn start_with(toml: &str, arguments: &[&str]) -> Self {
        let place = Place::configured(&unlimited(toml));
        let home = place.path().to_owned();
        let folder = home.join("w");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a.txt"), "first").unwrap();
        std::fs::write(folder.join(".env"), "KEY=1").unwrap();
        Self { server: Server::start_in(place, &[&["--workspace", "w"], arguments].concat()), home }
    }

    fn write_config(&self, toml: &str) {
        replace(&self.home.join("toolgate.toml"), &unlimited(toml));
    }

    /// A command of another process on the same data.
    fn command(&self, arguments: &[&str]) -> Ended {
        self.command_with(arguments, b"")
    }

    fn command_with(&self, arguments: &[&str], input: &[u8]) -> Ended {
        run(toolgate(&self.home, arguments), input)
    }

    /// What a command prints as JSON; it has to succeed.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.command(&[arguments, &["--json"]].concat());
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// Calls a tool over HTTP; the whole answer.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn request(&self, method: &str, params: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.server.post(message.to_string()).send();
        serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{}", answer.text()))
    }

    /// The text of a tool's answer.
    fn text(&self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
    }

    fn tools(&self, path: &str, token: Option<&str>) -> Vec<String> {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let ask = self.server.post(list).path(path);
        let ask = match token {
            Some(token) => ask.header("Authorization", format!("Bearer {token}")),
            None => ask,
        };
        let answer: Value = serde_json::from_str(&ask.send().text()).unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn toolgate(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Place::command_in(home, TOOLGATE);
    command.args(arguments);
    command
}

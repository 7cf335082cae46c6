//! The pack `opencode` on the binary, with a real OpenCode behind it: what counts is what OpenCode itself then says.

mod ends;
mod killed;
mod people;
mod settings;
mod tools;
mod without;

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use toolgate_testkit::RealOpencode;

use crate::message::call;
use crate::process::{Place, Server, Stdio, unlimited};
use crate::web::Ask;

/// One test at a time: a change of the global configuration stops what others do.
static TURN: Mutex<()> = Mutex::new(());

/// A project in the real OpenCode, for one test.
struct Scene {
    project: PathBuf,
    opencode: &'static RealOpencode,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Scene {
    fn new(name: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self::within(name, Some(turn))
    }

    /// Another project, for the same test.
    fn beside(&self, name: &str) -> Self {
        Self::within(name, None)
    }

    fn within(name: &str, _turn: Option<MutexGuard<'static, ()>>) -> Self {
        let opencode = RealOpencode::shared();
        let project = opencode.home.path().join(name);
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join("notes.txt"), "the moon is made of cheese\n").unwrap();
        fs::write(project.join("opencode.jsonc"), "{\n  // mine\n  \"username\": \"me\",\n}\n").unwrap();
        Self { project, opencode, _turn }
    }

    /// A place whose configuration leads here.
    fn place(&self) -> Place {
        let (address, project) = (&self.opencode.address, self.project.display());
        let password = RealOpencode::PASSWORD;
        Place::configured(&unlimited(&format!(
            "packs = ['opencode']\n[opencode]\nserver_url = 'http://{address}'\npassword = '{password}'\n\
             default_project = '{project}'\n"
        )))
    }

    fn path(&self, name: &str) -> String {
        self.project.join(name).to_str().unwrap().to_owned()
    }

    /// Asks OpenCode itself.
    fn own(&self, path: &str) -> Value {
        self.ask("GET", path).send().json()
    }

    /// Tells OpenCode itself something.
    fn tell(&self, path: &str, body: &Value) -> Value {
        let post = self.ask("POST", path).header("Content-Type", "application/json");
        let reply = post.body(body.to_string()).send();
        if reply.body.is_empty() { Value::Null } else { reply.json() }
    }

    fn ask(&self, method: &'static str, path: &str) -> Ask {
        let sign = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{sign}directory={}", self.project.display());
        let address = self.opencode.address.parse().unwrap();
        Ask::new(address, method, &path).header("Authorization", RealOpencode::AUTHORIZATION)
    }

    /// Whether a session works, as OpenCode says.
    fn is_busy(&self, session: &str) -> bool {
        self.own("/session/status")[session]["type"].as_str().is_some_and(|kind| kind != "idle")
    }

    /// The sessions that work here.
    fn busy(&self) -> usize {
        self.own("/session/status").as_object().unwrap().values().filter(|one| one["type"] != "idle").count()
    }
}

/// How a client reaches the binary.
enum Way {
    Stdio(Stdio),
    Http(Server),
}

impl Way {
    fn ask(&mut self, message: String) -> Value {
        match self {
            Self::Stdio(stdio) => stdio.ask(message),
            Self::Http(server) => server.post(message).send().json(),
        }
    }

    /// Calls a tool; its result.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(call(1, tool, arguments))["result"].clone()
    }

    /// The structured content of a call that went well.
    #[track_caller]
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"], "{tool}");
        text
    }

    /// The names of the tools.
    fn tools(&mut self) -> Vec<String> {
        let list = self.ask(crate::message::request(1, "tools/list", &json!({})));
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

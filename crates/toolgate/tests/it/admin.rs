//! The admin API of the running binary: set up by its link, and used as the page uses it.

mod access;
mod generated;
mod scripts;
mod servers;
mod things;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::process::{Ended, Place, Server, TOOLGATE, run, unlimited, until};
use crate::web::{Ask, Reply};

const PASSWORD: &str = "correct horse battery";

/// A server, and someone who is logged in to its page.
struct Desk {
    server: Server,
    home: PathBuf,
    cookie: String,
    csrf: String,
}

impl Desk {
    /// A server under this configuration, set up by the link that it printed.
    fn start(toml: &str) -> Self {
        let place = Place::configured(&unlimited(toml));
        let home = place.path().to_owned();
        std::fs::create_dir_all(home.join("w")).unwrap();
        std::fs::write(home.join("w/a.txt"), "first").unwrap();
        let server = Server::start_in(place, &["--workspace", "w"]);
        let link = printed(&server);
        let body = json!({"link": link, "account": "ada", "password": PASSWORD});
        let reply = post(&server, "/setup", &body).send();
        let (cookie, csrf) = session(&reply);
        Self { server, home, cookie, csrf }
    }

    fn ask(&self, method: &'static str, path: &str) -> Ask {
        ask(&self.server, method, path).header("Cookie", &self.cookie).header("X-CSRF-Token", &self.csrf)
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path).send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    fn send(&self, method: &'static str, path: &str, body: &Value) -> Reply {
        let ask = self.ask(method, path).header("Content-Type", "application/json");
        ask.body(body.to_string()).send()
    }

    /// Has something done, which has to be answered so.
    #[track_caller]
    fn done(&self, method: &'static str, path: &str, body: &Value, status: u16) -> Value {
        let reply = self.send(method, path, body);
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        if reply.body.is_empty() { Value::Null } else { reply.json() }
    }

    /// A message to the protocol's endpoint.
    fn request(&self, method: &str, params: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.server.post(message.to_string()).send().json()
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn command(&self, arguments: &[&str]) -> Ended {
        let mut command = Place::command_in(&self.home, TOOLGATE);
        command.args(arguments);
        run(command, b"")
    }
}

/// The link that a server printed when it started.
fn printed(server: &Server) -> String {
    let found = || {
        let log = server.log();
        let (_, rest) = log.split_once("/admin#setup=")?;
        Some(rest.split_whitespace().next()?.to_owned())
    };
    until("the link is printed", || found().is_some());
    found().unwrap()
}

fn ask(server: &Server, method: &'static str, path: &str) -> Ask {
    Ask::new(server.address, method, &format!("/admin/api{path}"))
}

/// A change by somebody who is not logged in.
fn post(server: &Server, path: &str, body: &Value) -> Ask {
    let ask = ask(server, "POST", path).header("X-CSRF-Token", "0");
    ask.header("Content-Type", "application/json").body(body.to_string())
}

/// The cookie and what goes with it.
#[track_caller]
fn session(reply: &Reply) -> (String, String) {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    (cookie, reply.json()["csrf"].as_str().unwrap().to_owned())
}

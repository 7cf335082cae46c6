//! A server that misbehaves when it is told to: this very binary, started again, on standard streams or over HTTP.
//!
//! The harness writes to standard output by itself, so the server's own goes to file descriptor 3 and the harness's to
//! nowhere.

#![expect(clippy::disallowed_methods, reason = "it is a program of its own, and reads its environment")]

mod stdio;
mod web;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The variables by which it is told what it is.
pub(super) const NAME: &str = "FAKE_NAME";
pub(super) const PLACE: &str = "FAKE_PLACE";
pub(super) const ERA: &str = "FAKE_ERA";
pub(super) const ADDRESS: &str = "FAKE_ADDRESS";

/// More than any message may have.
const TOO_MUCH: usize = 17 * 1024 * 1024;

/// How a server begins a stream of changes.
const ACKNOWLEDGED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}"#;

/// Not a test: the server, when it is started as one.
#[test]
fn server() {
    if let Ok(name) = std::env::var(NAME) {
        serve(name);
    }
}

#[expect(clippy::exit, reason = "one that is to stay out ends as programs do that cannot start")]
fn serve(name: String) {
    let place = PathBuf::from(std::env::var(PLACE).unwrap());
    if place.join("stay-out").exists() {
        std::process::exit(3);
    }
    std::fs::write(place.join("process"), std::process::id().to_string()).unwrap();
    let fake = Fake { name, place, modern: std::env::var(ERA).unwrap() == "modern" };
    match std::env::var(ADDRESS) {
        Ok(address) => web::serve(fake, &address),
        Err(_) => stdio::serve(&fake),
    }
}

struct Fake {
    name: String,
    place: PathBuf,
    modern: bool,
}

/// A call, and what is to be done wrong with it.
struct Call {
    id: Value,
    nonce: String,
    deed: String,
}

impl Fake {
    /// Reads a call, and notes that it came.
    fn call(&self, message: &Value) -> Call {
        let params = &message["params"];
        let word = |key: &str| params["arguments"][key].as_str().unwrap_or_default().to_owned();
        let call = Call { id: message["id"].clone(), nonce: word("nonce"), deed: word("deed") };
        let mut calls = File::options().append(true).create(true).open(self.place.join("calls")).unwrap();
        let line = format!("{} {}\n", params["name"].as_str().unwrap(), call.nonce);
        calls.write_all(line.as_bytes()).unwrap();
        call
    }

    /// The right answer to a call.
    fn right(&self, call: &Call) -> String {
        self.result(&call.id, &call.nonce, "")
    }

    fn result(&self, id: &Value, nonce: &str, padding: &str) -> String {
        let name = &self.name;
        let said = format!(r#"{{"server":"{name}","nonce":"{nonce}","padding":"{padding}"}}"#);
        let result = format!(r#"{{"content":[],"structuredContent":{said},"resultType":"complete"}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }

    /// The answer to a call, of the kinds that need no more than one message.
    fn plain(&self, call: &Call) -> String {
        match &*call.deed {
            "big" => self.result(&call.id, &call.nonce, &"x".repeat(128 * 1024)),
            "huge" => self.result(&call.id, &call.nonce, &"x".repeat(TOO_MUCH)),
            "refuse" => {
                let error = json!({"code": -32099, "message": format!("no luck with {}", call.nonce)});
                json!({"jsonrpc": "2.0", "id": call.id, "error": error}).to_string()
            }
            "odd" => json!({"jsonrpc": "2.0", "id": call.id, "result": [call.nonce]}).to_string(),
            "child" => {
                let mut child = Command::new("/bin/sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
                std::thread::spawn(move || child.wait());
                self.right(call)
            }
            _ => self.right(call),
        }
    }

    /// An answer to a call that was not asked, with what nobody may see.
    fn stolen(&self, id: &Value) -> String {
        self.result(id, "nonce-of-nobody", "")
    }

    /// Changes what it has.
    fn change(&self) -> &'static str {
        let late = self.place.join("late");
        if std::fs::remove_file(&late).is_err() {
            std::fs::write(&late, "").unwrap();
        }
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
    }

    /// The answer to anything but a call; none to what has none.
    fn answer(&self, message: &Value) -> Option<String> {
        let id = &message["id"];
        let capabilities = json!({"tools": {"listChanged": true}});
        let result = match message["method"].as_str()? {
            "server/discover" if self.modern => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                "ttlMs": 0, "cacheScope": "public"
            }),
            "initialize" if !self.modern => json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "fake", "version": "1"}
            }),
            "tools/list" => self.tools(),
            _ if id.is_null() => return None,
            _ => {
                let error = json!({"code": -32601, "message": "unknown method"});
                return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
            }
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    }

    fn tools(&self) -> Value {
        let schema = json!({"type": "object"});
        let mut tools = vec![
            json!({"name": "act", "inputSchema": schema}),
            json!({"name": "look", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
        ];
        if self.place.join("late").exists() {
            tools.push(json!({"name": "late", "inputSchema": schema}));
        }
        json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "public"})
    }
}

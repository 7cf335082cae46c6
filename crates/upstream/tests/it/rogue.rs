//! A small MCP server on standard input and output that does one thing very wrong: this very binary, started again.
//!
//! As with the other one, its own output goes to file descriptor 3. Each way to be wrong is a tool, or a behaviour that
//! the variable `ROGUE_BEHAVIOUR` names.

#![expect(clippy::disallowed_methods, reason = "it is a program of its own, and reads its environment")]

use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

/// How many bytes its longest line has.
pub(crate) const GIGABYTE: usize = 1 << 30;

/// How many notices it sends when it floods.
pub(crate) const FLOOD: usize = 50_000;

/// How many pages it has before its last, where they hold nothing.
pub(crate) const PADDED: usize = 15;

const TOOLS: [&str; 9] = ["echo", "read", "gigabyte", "twins", "latin", "drip", "shout", "complain", "exit"];

/// A table of it.
pub(crate) fn rogue(behaviour: &str, place: &Path) -> Value {
    let program = std::env::current_exe().unwrap();
    let script =
        format!("exec 3>&1 1>/dev/null; exec {} --exact rogue::server --nocapture", program.display());
    json!({
        "command": "/bin/sh",
        "args": ["-c", script],
        "env": {"ROGUE_BEHAVIOUR": behaviour, "ROGUE_PLACE": place},
        "era": "legacy",
        "startup_timeout": 120_000,
        "timeout": 60_000,
    })
}

/// Not a test: the server, when it is started as one.
#[test]
fn server() {
    let Ok(behaviour) = std::env::var("ROGUE_BEHAVIOUR") else { return };
    let place = std::env::var("ROGUE_PLACE").unwrap().into();
    let mut rogue =
        Rogue { behaviour, place, out: File::options().write(true).open("/proc/self/fd/3").unwrap() };
    rogue.run();
}

struct Rogue {
    behaviour: String,
    /// A place that outlives the process.
    place: PathBuf,
    out: File,
}

impl Rogue {
    fn run(&mut self) {
        self.mark("started");
        if self.behaviour == "gone" {
            std::process::exit(3);
        }
        for line in std::io::stdin().lock().lines() {
            let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            self.take(&message);
        }
    }

    fn mark(&self, what: &str) {
        let file = File::options().append(true).create(true).open(self.place.join(what));
        file.unwrap().write_all(b".").unwrap();
    }

    fn send(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn result(&mut self, id: &Value, result: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    fn text(&mut self, id: &Value, text: &str) {
        self.result(id, &json!({"content": [{"type": "text", "text": text}]}).to_string());
    }

    fn take(&mut self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => self.result(
                id,
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"rogue","version":"1"}}"#,
            ),
            "tools/list" => {
                self.mark("listed");
                self.list(id, params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap()));
            }
            "tools/call" => self.call(id, params),
            _ if id.is_null() => {}
            _ => self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)),
        }
    }

    fn list(&mut self, id: &Value, page: usize) {
        let tool = |number: usize| format!(r#"{{"name":"t{number}","inputSchema":{{}}}}"#);
        let page_of = |count: usize| (0..count).map(|n| tool(page * count + n)).collect::<Vec<_>>().join(",");
        match self.behaviour.as_str() {
            "million" => self.result(id, &format!(r#"{{"tools":[{}]}}"#, page_of(1_000_000))),
            "thousands" => {
                self.result(id, &format!(r#"{{"tools":[{}],"nextCursor":"{}"}}"#, page_of(3_000), page + 1));
            }
            // Each tool almost fills its page.
            "heavy" => {
                let text = "x".repeat(15 << 20);
                let tool = format!(r#"{{"name":"t{page}","description":"{text}","inputSchema":{{}}}}"#);
                self.result(id, &format!(r#"{{"tools":[{tool}],"nextCursor":"{}"}}"#, page + 1));
            }
            "padded-pages" => {
                let next = if page < PADDED { json!((page + 1).to_string()) } else { Value::Null };
                self.result(
                    id,
                    &format!(r#"{{"tools":[],"nextCursor":{next},"x":"{}"}}"#, "x".repeat(5 << 20)),
                );
            }
            // What it says is never the last word, until it is told to be calm.
            "restless" => {
                let count = std::fs::read(self.place.join("listed")).unwrap().len();
                let echo = r#"{"name":"echo","inputSchema":{"type":"object"}}"#;
                if self.place.join("calm").exists() {
                    return self.result(id, &format!(r#"{{"tools":[{echo},{},{}]}}"#, tool(1), tool(2)));
                }
                self.result(id, &format!(r#"{{"tools":[{echo},{}]}}"#, tool(count)));
                self.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            }
            "empty-pages" => self.result(id, &format!(r#"{{"tools":[],"nextCursor":"{}"}}"#, page + 1)),
            _ => {
                let tools = TOOLS.map(|name| {
                    json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name == "echo"}})
                });
                self.result(id, &json!({"tools": tools}).to_string());
            }
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        match params["name"].as_str().unwrap() {
            "echo" => self.text(id, "echo"),
            "read" => {
                let read = std::fs::read(params["arguments"]["path"].as_str().unwrap());
                self.text(id, &read.map_or_else(|error| format!("{:?}", error.kind()), |_| "read".into()));
            }
            "gigabyte" => {
                let piece = vec![b'x'; 1 << 20];
                for _ in 0..GIGABYTE >> 20 {
                    self.out.write_all(&piece).unwrap();
                }
                self.send("");
            }
            "twins" => self.result(id, r#"{"content":[],"isError":true,"isError":false}"#),
            "latin" => {
                let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"x":"#);
                self.out.write_all(&[start.as_bytes(), b"\"caf\xe9\"}}\n"].concat()).unwrap();
            }
            "drip" => {
                self.mark("dripping");
                loop {
                    self.out.write_all(b" ").unwrap();
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            "shout" => {
                for _ in 0..FLOOD {
                    self.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                    self.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}"#);
                }
                self.text(id, "after the flood");
            }
            "complain" => {
                let piece = vec![b'x'; 1 << 20];
                for _ in 0..100 {
                    std::io::stderr().write_all(&piece).unwrap();
                }
                std::io::stderr().write_all(b"\nthe end\n").unwrap();
                self.text(id, "after complaints");
            }
            _ => std::process::exit(9),
        }
    }
}

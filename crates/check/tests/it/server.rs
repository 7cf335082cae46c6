//! The server on standard streams: a program of its own, when this binary is started as one.

#![expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "it is a program of its own, with an environment and an end"
)]

use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use serde_json::Value;

use crate::behaviour::Server;

/// Longer lines are too long.
const LIMIT: usize = 1024 * 1024;

/// Not a test: the server, when it is started as one.
#[test]
fn server() {
    let Ok(behaviour) = std::env::var("SERVER_BEHAVIOUR") else { return };
    let mut out = File::options().write(true).open("/proc/self/fd/3").unwrap();
    let mut server = Server::new(&behaviour);
    eprintln!("the server is up");
    if server.is("stdout-pure") {
        out.write_all(b"Welcome!\n").unwrap();
    }
    if server.is("dies") {
        std::process::exit(3);
    }
    if hostile(&server, &mut out) {
        return;
    }
    for line in std::io::stdin().lock().lines() {
        if server.is("heavy") {
            let lists = vec!["[]"; 150_000].join(",");
            let params = format!(r#"{{"level":"info","data":[{lists}]}}"#);
            for _ in 0..3 {
                let said =
                    format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#);
                out.write_all(format!("{said}\n").as_bytes()).unwrap();
            }
        }
        for answer in answers(&mut server, &line.unwrap()) {
            out.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
    }
    if server.is("ends-with-input") {
        std::thread::sleep(Duration::from_secs(600));
    }
}

/// Says what would keep a client for ever, and reads nothing; whether it does.
fn hostile(server: &Server, out: &mut File) -> bool {
    let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    if server.is("asks-in-a-batch") {
        let pings: Vec<String> = (0..5000).map(ping).collect();
        out.write_all(format!("[{}]\n", pings.join(",")).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_secs(600));
        return true;
    }
    if server.is("asks-in-lines") {
        for id in 0.. {
            out.write_all(format!("{}\n", ping(id)).as_bytes()).unwrap();
        }
    }
    if server.is("floods-and-ends") {
        // What is beyond the limit of a check waits in pipes when this program has ended already.
        let said = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
        out.write_all(format!("{said}\n").repeat(20_500).as_bytes()).unwrap();
        return true;
    }
    false
}

fn answers(server: &mut Server, line: &str) -> Vec<String> {
    if line.len() > LIMIT {
        if server.is("long-message") {
            std::process::abort();
        }
        return vec![Server::refusal(-32600, "too long")];
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        if server.is("survives-broken-json") {
            std::process::exit(4);
        }
        return vec![Server::refusal(-32700, "not JSON")];
    };
    if message.is_array() && server.is("survives-batch") {
        std::process::exit(5);
    }
    if message["method"] == "server/discover" {
        if server.is("exits-on-probe") {
            std::process::exit(7);
        }
        if server.is("silent-on-probe") {
            return Vec::new();
        }
    }
    if server.is("hangs") {
        std::thread::sleep(Duration::from_secs(600));
    }
    if server.is("cancellation") && message["method"] == "notifications/cancelled" {
        std::process::exit(6);
    }
    server.take(&message)
}

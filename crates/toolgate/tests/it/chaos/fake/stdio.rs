//! The misbehaving server on its standard streams.

use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ACKNOWLEDGED, Call, Fake};

pub(super) fn serve(fake: &Fake) {
    let out = File::options().write(true).open("/proc/self/fd/3").unwrap();
    let mut server = Server { fake, out, hung: Vec::new() };
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = line.map(|line| serde_json::from_str::<Value>(&line).unwrap()) else { return };
        if message["method"] == "tools/call" {
            server.call(&fake.call(&message));
        } else if message["method"] == "subscriptions/listen" {
            server.send(ACKNOWLEDGED);
        } else if let Some(answer) = fake.answer(&message) {
            server.send(&answer);
        }
    }
}

struct Server<'a> {
    fake: &'a Fake,
    out: File,
    /// Calls that it has not answered.
    hung: Vec<Call>,
}

impl Server<'_> {
    fn send(&mut self, text: &str) {
        self.write(format!("{text}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        // Who does not listen any more is about to end us.
        drop(self.out.write_all(bytes));
    }

    fn call(&mut self, call: &Call) {
        let fake = self.fake;
        match &*call.deed {
            "hang" => {
                let Call { id, nonce, .. } = call;
                return self.hung.push(Call { id: id.clone(), nonce: nonce.clone(), deed: String::new() });
            }
            "stale" => {
                for late in std::mem::take(&mut self.hung) {
                    self.send(&fake.right(&late));
                }
            }
            "garbage" => {
                self.write(b"{\"jsonrpc\": nonsense\n\n\xff\xfe\0\n[]\nnull\n\"\n");
            }
            "noise" => self.noise(),
            "wrong" => {
                self.send(&fake.stolen(&json!("nobody")));
                self.send(&fake.stolen(&json!(999_999_999)));
            }
            "drip" => return self.drip(&fake.right(call)),
            "die" | "cut" => {
                let half = fake.right(call);
                self.write(&half.as_bytes()[..half.len() / 2]);
                std::process::exit(9);
            }
            "change" => self.send(fake.change()),
            _ => {}
        }
        self.send(&fake.plain(call));
        if call.deed == "twice" {
            self.send(&fake.stolen(&call.id));
        }
    }

    /// What belongs to no call, and a question of its own.
    fn noise(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        self.send(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
        for step in 0..200 {
            let about = json!({"progressToken": step, "progress": step});
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": about});
            self.send(&notice.to_string());
        }
    }

    fn drip(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(text.len() / 8 + 1) {
            self.write(piece);
            sleep(Duration::from_millis(25));
        }
        self.write(b"\n");
    }
}

//! A client that calls, and looks closely at what it gets.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::dice::Dice;
use super::herd::{Fake, Herd};
use crate::message::request;
use crate::web::Ask;

/// What a server can be told to do wrong in a call, each as often as it stands here.
const DEEDS: [&str; 16] = [
    "hang", "garbage", "garbage", "huge", "big", "big", "drip", "drip", "die", "cut", "change", "change",
    "twice", "wrong", "noise", "refuse",
];
const RARE_DEEDS: [&str; 3] = ["stale", "odd", "child"];

/// What the word begins with that each call has for itself; it ends with a full stop.
const NONCE: &str = "nonce-";

/// What all clients have seen.
#[derive(Default)]
pub(super) struct Seen {
    /// Calls by how they ended.
    pub(super) right: AtomicUsize,
    pub(super) failed: AtomicUsize,
    pub(super) given_up: AtomicUsize,
    /// What was answered rightly: the nonces.
    pub(super) nonces: Mutex<Vec<String>>,
    /// What must not have been.
    pub(super) wrong: Mutex<Vec<String>>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let (right, failed, given_up) = (count(&self.right), count(&self.failed), count(&self.given_up));
        let wrong = self.wrong.lock().unwrap().len();
        write!(f, "{right} calls answered, {failed} failed, {given_up} given up, {wrong} wrong")
    }
}

impl Seen {
    /// Whether so much has happened as so many rounds should bring.
    pub(super) fn is_enough(&self, rounds: u64) -> bool {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed) as u64;
        let counts = [count(&self.right), count(&self.failed), count(&self.given_up)];
        counts[0] > 100 * rounds && counts[1] > 10 * rounds && counts[2] > 0
    }

    fn complain(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }
}

/// One client, of either era.
pub(super) struct Client<'a> {
    number: u64,
    endpoint: Ask,
    session: Option<String>,
    dice: Dice,
    next: u64,
    herd: &'a Herd,
    seen: &'a Seen,
}

impl<'a> Client<'a> {
    /// One that has introduced itself, where its era does that. Every fourth can be asked things.
    pub(super) fn new(number: u64, endpoint: Ask, dice: Dice, herd: &'a Herd, seen: &'a Seen) -> Self {
        let mut client = Self { number, endpoint, session: None, dice, next: 0, herd, seen };
        if number.is_multiple_of(2) {
            let capabilities = if number.is_multiple_of(4) { json!({"elicitation": {}}) } else { json!({}) };
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}});
            let reply = client.endpoint.clone().both().body(request(0, "initialize", &params)).send();
            client.session = reply.header("mcp-session-id").map(ToOwned::to_owned);
            assert!(client.session.is_some(), "{reply:?}");
        }
        client
    }

    /// Calls some server, or lists, and notes how that went.
    pub(super) fn go(&mut self) {
        if self.dice.percent(2) {
            return self.list();
        }
        let calm = self.dice.percent(25);
        let herd = self.herd;
        let fake = self.dice.pick(if calm { herd.calm() } else { herd.wild() });
        let deed = match self.dice.below(100) {
            _ if calm => "",
            0..=24 => self.dice.pick(&DEEDS),
            25..=27 => self.dice.pick(&RARE_DEEDS),
            _ => "",
        };
        if !calm && self.dice.percent(3) {
            self.give_up(fake, deed);
        } else if let Err(answer) = self.call(fake, deed)
            && calm
        {
            self.seen.complain(format!("a call of `{}` failed, which nobody disturbed: {answer}", fake.name));
        }
    }

    fn ask(&mut self, method: &str, mut params: Value) -> (u64, Ask) {
        self.next += 1;
        let id = self.number * 1_000_000 + self.next;
        let ask = self.endpoint.clone().both();
        let Some(session) = &self.session else {
            let ask = ask.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
            let ask = match params["name"].as_str() {
                Some(name) => ask.header("Mcp-Name", name),
                None => ask,
            };
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
            return (id, ask.body(request(id, method, &params)));
        };
        (id, ask.session(session).body(request(id, method, &params)))
    }

    fn prepare(&mut self, fake: &Fake, deed: &str) -> (u64, Ask, String) {
        let tool = if self.dice.percent(50) { "act" } else { "look" };
        let nonce = format!("{NONCE}{}-{}.", self.number, self.next + 1);
        let arguments = json!({"nonce": nonce, "deed": deed});
        let (id, ask) =
            self.ask("tools/call", json!({"name": format!("{}_{tool}", fake.name), "arguments": arguments}));
        (id, ask, nonce)
    }

    /// Calls, and goes away.
    fn give_up(&mut self, fake: &Fake, deed: &str) {
        let (_, ask, _) = self.prepare(fake, deed);
        let connection = ask.sent();
        std::thread::sleep(std::time::Duration::from_millis(self.dice.below(30)));
        drop(connection);
        self.seen.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls; if the answer is an error, what it says.
    pub(super) fn call(&mut self, fake: &Fake, deed: &str) -> Result<(), String> {
        let (id, ask, nonce) = self.prepare(fake, deed);
        let (answer, text) = self.answer(id, &ask);
        let own = nonce.trim_start_matches(NONCE).trim_end_matches('.');
        let strange = |rest: &&str| rest.split('.').next() != Some(own);
        if let Some(other) = text.split(NONCE).skip(1).find(strange) {
            let other: String = other.chars().take(40).collect();
            self.seen.complain(format!("{nonce} of `{}` ({deed}) saw {NONCE}{other}", fake.name));
        }
        let said = &answer["result"]["structuredContent"];
        if said["nonce"] == nonce.as_str() && said["server"] == fake.name.as_str() {
            self.seen.right.fetch_add(1, Ordering::Relaxed);
            self.seen.nonces.lock().unwrap().push(nonce);
            return Ok(());
        }
        self.seen.failed.fetch_add(1, Ordering::Relaxed);
        let is_tool_error = answer["result"]["isError"] == true
            && answer["result"]["_meta"]["dev.toolgate/error"]["category"].is_string();
        let is_error = answer["error"]["code"].is_i64() && answer["error"]["message"].is_string();
        let shown: String = text.chars().take(300).collect();
        if !is_tool_error && !is_error {
            self.seen.complain(format!(
                "{nonce} of `{}` ({deed}) got neither answer nor error: {shown}",
                fake.name
            ));
        }
        Err(shown)
    }

    /// The one answer to a request, and all bytes that came.
    fn answer(&self, id: u64, ask: &Ask) -> (Value, String) {
        let open = ask.open();
        let status = open.head.status;
        let is_stream =
            open.head.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let messages: Vec<Value> = if is_stream {
            open.messages()
        } else {
            let reply = open.whole();
            serde_json::from_slice(&reply.body).into_iter().collect()
        };
        let text = messages.iter().map(Value::to_string).collect();
        let mut answers = messages.into_iter().filter(|message| message["method"].is_null());
        let first = answers.next().unwrap_or_default();
        if first["id"] != id || answers.next().is_some() {
            self.seen.complain(format!("not one answer to {id}, but (status {status}): {text}"));
        }
        (first, text)
    }

    /// What is listed is always in order, and all of what nobody disturbs is always there.
    fn list(&mut self) {
        let (id, ask) = self.ask("tools/list", json!({}));
        let (answer, _) = self.answer(id, &ask);
        let tools: Vec<&str> = answer["result"]["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let mut once = tools.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() != tools.len() {
            self.seen.complain(format!("a tool is listed twice: {tools:?}"));
        }
        for fake in self.herd.calm() {
            if !["act", "look"].iter().all(|tool| tools.contains(&&*format!("{}_{tool}", fake.name))) {
                self.seen.complain(format!("`{}` is missing from the list", fake.name));
            }
        }
    }
}

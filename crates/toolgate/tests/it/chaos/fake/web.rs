//! The misbehaving server over HTTP: a thread a connection.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ACKNOWLEDGED, Call, Fake};

struct Server {
    fake: Fake,
    sessions: Mutex<HashSet<String>>,
    /// The streams on which it speaks by itself.
    streams: Mutex<Vec<TcpStream>>,
}

/// A request, as far as it matters here.
struct Asked {
    method: String,
    session: Option<String>,
    body: Vec<u8>,
}

pub(super) fn serve(fake: Fake, address: &str) {
    // One that was killed a moment ago may not be quite gone.
    let listener = loop {
        match TcpListener::bind(address) {
            Ok(listener) => break listener,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    let server = Arc::new(Server { fake, sessions: Mutex::default(), streams: Mutex::default() });
    for stream in listener.incoming() {
        let (Ok(stream), server) = (stream, server.clone()) else { continue };
        thread::spawn(move || server.connection(stream));
    }
}

impl Server {
    fn connection(&self, stream: TcpStream) {
        // A connection that fails is the client's affair.
        drop(stream.set_nodelay(true));
        let mut reader = BufReader::new(stream);
        while let Some(asked) = read(&mut reader) {
            if self.take(&asked, reader.get_mut()).is_none() {
                return;
            }
        }
    }

    /// Answers a request. None: the connection is of no more use.
    fn take(&self, asked: &Asked, out: &mut TcpStream) -> Option<()> {
        let known = || asked.session.as_ref().is_some_and(|id| self.sessions.lock().unwrap().contains(id));
        let lacks_session = !self.fake.modern && !known();
        match &*asked.method {
            "GET" if lacks_session => return whole(out, 404, ""),
            "GET" if self.fake.modern => return whole(out, 405, ""),
            "GET" => return self.stream(out, None),
            "DELETE" => return whole(out, 200, ""),
            _ => {}
        }
        let message: Value = serde_json::from_slice(&asked.body).ok()?;
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" if !self.fake.modern => whole(out, 400, "Bad Request"),
            "initialize" => self.initialize(&message, out),
            _ if lacks_session => whole(out, 404, ""),
            "subscriptions/listen" => self.stream(out, Some(ACKNOWLEDGED)),
            "tools/call" => self.call(&self.fake.call(&message), out),
            _ => match self.fake.answer(&message) {
                Some(answer) => whole(out, 200, &answer),
                None => whole(out, 202, ""),
            },
        }
    }

    fn initialize(&self, message: &Value, out: &mut TcpStream) -> Option<()> {
        let mut sessions = self.sessions.lock().unwrap();
        let id = format!("{}-{}", std::process::id(), sessions.len());
        sessions.insert(id.clone());
        let answer = self.fake.answer(message)?;
        send(out, &head(200, "application/json", &format!("Mcp-Session-Id: {id}\r\n"), answer.len()))?;
        send(out, answer.as_bytes())
    }

    /// A stream that stays open.
    fn stream(&self, out: &mut TcpStream, first: Option<&str>) -> Option<()> {
        begin(out)?;
        first.map_or(Some(()), |first| event(out, first))?;
        self.streams.lock().unwrap().push(out.try_clone().ok()?);
        // Nothing comes on it but its end.
        out.read_exact(&mut [0]).ok()?;
        None
    }

    fn change(&self) {
        let notice = self.fake.change();
        self.streams.lock().unwrap().retain_mut(|stream| event(stream, notice).is_some());
    }

    fn call(&self, call: &Call, out: &mut TcpStream) -> Option<()> {
        let fake = &self.fake;
        match &*call.deed {
            "hang" => {
                // Until the client has had enough.
                out.read_exact(&mut [0]).ok()?;
                None
            }
            "garbage" => whole(out, 200, "{\"jsonrpc\": nonsense"),
            "stale" => whole(out, 503, "not now"),
            "wrong" => whole(out, 200, &fake.stolen(&json!("nobody"))),
            "twice" => events(out, &[&fake.right(call), &fake.stolen(&call.id)]),
            "noise" => {
                let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}"#;
                let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
                events(out, &[progress, ping, "nonsense", progress, &fake.right(call)])
            }
            "drip" => drip(out, &fake.right(call)),
            "die" => {
                half(out, &fake.right(call))?;
                std::process::exit(9)
            }
            "cut" => {
                half(out, &fake.right(call))?;
                None
            }
            "change" => {
                self.change();
                self.sessions.lock().unwrap().clear();
                whole(out, 200, &fake.right(call))
            }
            // Nobody would end what it starts.
            "child" => whole(out, 200, &fake.right(call)),
            _ => whole(out, 200, &fake.plain(call)),
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let line = |reader: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0).map(|_| line.trim_end().to_owned())
    };
    let method = line(reader)?.split(' ').next()?.to_owned();
    let (mut length, mut session) = (0, None);
    loop {
        let header = line(reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.trim().parse().ok()?,
            "mcp-session-id" => session = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, session, body })
}

fn send(out: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    out.write_all(bytes).ok()
}

fn head(status: u16, kind: &str, more: &str, length: usize) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n").into()
}

fn whole(out: &mut TcpStream, status: u16, body: &str) -> Option<()> {
    send(out, &[&head(status, "application/json", "", body.len()), body.as_bytes()].concat())
}

/// Half an answer, of which all was promised.
fn half(out: &mut TcpStream, body: &str) -> Option<()> {
    send(out, &head(200, "application/json", "", body.len()))?;
    send(out, &body.as_bytes()[..body.len() / 2])
}

fn drip(out: &mut TcpStream, body: &str) -> Option<()> {
    send(out, &head(200, "application/json", "", body.len()))?;
    for piece in body.as_bytes().chunks(body.len() / 8 + 1) {
        send(out, piece)?;
        thread::sleep(Duration::from_millis(25));
    }
    Some(())
}

/// The head of a stream of events.
fn begin(out: &mut TcpStream) -> Option<()> {
    send(out, b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
}

fn event(out: &mut TcpStream, data: &str) -> Option<()> {
    let text = format!("data: {data}\n\n");
    send(out, format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

fn events(out: &mut TcpStream, all: &[&str]) -> Option<()> {
    begin(out)?;
    all.iter().try_for_each(|data| event(out, data))?;
    send(out, b"0\r\n\r\n")
}

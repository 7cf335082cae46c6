//! A small HTTP/1.1 client on bytes: it sends exactly what a test says, and reads streams event by event.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use toolgate_wire::sse::{Decoder, Event};

use crate::process::PATIENCE;

/// A request in the making. It has `Host` and `Content-Length`, and no other header that is not asked for.
#[derive(Clone)]
pub(crate) struct Ask {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Ask {
    pub(crate) fn new(address: SocketAddr, method: &'static str, path: &str) -> Self {
        Self { address, method, path: path.into(), headers: Vec::new(), body: None }
    }

    pub(crate) fn path(self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self }
    }

    pub(crate) fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.into(), value.to_string()));
        self
    }

    /// Accepts answers as JSON and as events, as clients of the protocol do.
    pub(crate) fn both(self) -> Self {
        self.header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    /// Belongs to a session.
    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id).header("MCP-Protocol-Version", "2025-11-25")
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let has = |name: &str| self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        if !has("Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        if let Some(body) = self.body.as_ref().filter(|_| !has("Content-Length")) {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        [head.as_bytes(), self.body.as_deref().unwrap_or_default()].concat()
    }

    /// Sends it, and hands over the connection without reading an answer.
    pub(crate) fn sent(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Connection(BufReader::new(stream));
        connection.write(&self.bytes());
        connection
    }

    /// Sends it and reads the head of the answer.
    pub(crate) fn open(&self) -> Open {
        self.sent().head()
    }

    /// Sends it and reads the whole answer.
    pub(crate) fn send(&self) -> Reply {
        self.open().whole()
    }

    /// Sends it to a server that may go away at any moment; the message of the answer, if all of it came.
    pub(crate) fn attempt(&self) -> Option<Value> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(&self.clone().header("Connection", "close").bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n")?;
        serde_json::from_slice(&answer[head + 4..]).ok()
    }
}

/// A connection to the server; dropping it closes it.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // A server that refuses a request by its head may close before the body is written.
        drop(self.0.get_mut().write_all(bytes));
    }

    /// Reads the head of an answer.
    pub(crate) fn head(mut self) -> Open {
        let first = self.line();
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer but `{first}`"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let head = Reply { status, headers, body: Vec::new() };
        let left = match head.header("content-length") {
            _ if head.header("transfer-encoding") == Some("chunked") => Left::Chunks,
            Some(length) => Left::Bytes(length.parse().unwrap()),
            None => Left::Bytes(0),
        };
        Open { head, connection: self, left, events: Decoder::new(64 << 20) }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line of the head");
        line.trim_end().to_owned()
    }
}

enum Left {
    Bytes(usize),
    Chunks,
}

/// An answer whose body still comes.
pub(crate) struct Open {
    pub(crate) head: Reply,
    connection: Connection,
    left: Left,
    events: Decoder,
}

impl Open {
    /// The next piece of the body; nothing at its end.
    fn piece(&mut self) -> Option<Vec<u8>> {
        let length = match &mut self.left {
            Left::Bytes(left) => std::mem::take(left),
            Left::Chunks => {
                let size = self.connection.line();
                // A connection that ends between two chunks has been cut.
                usize::from_str_radix(&size, 16).unwrap_or_else(|_| panic!("the stream was cut: `{size}`"))
            }
        };
        let mut piece = vec![0; length];
        self.connection.0.read_exact(&mut piece).unwrap();
        if matches!(self.left, Left::Chunks) {
            self.connection.line();
            if length == 0 {
                self.left = Left::Bytes(0);
            }
        }
        (length > 0).then_some(piece)
    }

    /// The rest of the body.
    pub(crate) fn whole(mut self) -> Reply {
        while let Some(piece) = self.piece() {
            self.head.body.extend(piece);
        }
        self.head
    }

    /// The next event; nothing when the stream has come to its end.
    pub(crate) fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.next() {
                return Some(event.unwrap());
            }
            let piece = self.piece()?;
            self.events.push(&piece);
        }
    }

    /// The next message: events without data only let a client come back.
    pub(crate) fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event()?;
            if !event.data.is_empty() {
                return Some(serde_json::from_slice(&event.data).unwrap());
            }
        }
    }

    /// All messages to the end of the stream.
    pub(crate) fn messages(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.message()).collect()
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

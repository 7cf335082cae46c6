//! A small HTTP/1.1 client on bytes: it sends exactly what a test says.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a test waits for what should come at once. It only turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A request in the making.
#[derive(Clone)]
pub(crate) struct Ask {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Ask {
    pub(crate) fn new(address: SocketAddr, method: &'static str, path: &str) -> Self {
        Self { address, method, path: path.into(), headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    pub(crate) fn body(self, body: &Value) -> Self {
        let this = self.header("Content-Type", "application/json");
        Self { body: body.to_string(), ..this }
    }

    /// Sends it and reads the head of the answer.
    pub(crate) async fn open(&self) -> Open {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if self.headers.iter().all(|(name, _)| name != "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n{}", self.body.len(), self.body);
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut open = Open { stream, status: 0, headers: Vec::new(), read: Vec::new() };
        let text = open.until("\r\n\r\n").await;
        let mut lines = text.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        open.status = status.unwrap_or_else(|| panic!("no HTTP: {text}"));
        let headers = lines.filter_map(|line| line.split_once(':'));
        open.headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        open
    }

    /// Sends it and reads the whole answer.
    pub(crate) async fn send(&self) -> Reply {
        let mut open = self.open().await;
        let body = open.rest().await;
        Reply { status: open.status, headers: open.headers, body }
    }
}

/// An answer whose body still comes.
pub(crate) struct Open {
    stream: TcpStream,
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    read: Vec<u8>,
}

impl Open {
    /// Reads up to and with a text.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        loop {
            let place = self.read.windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(place) = place {
                let found: Vec<u8> = self.read.drain(..place + text.len()).collect();
                return String::from_utf8(found).unwrap();
            }
            assert!(self.more().await, "`{text}` does not come: {}", String::from_utf8_lossy(&self.read));
        }
    }

    /// Reads to the end of the answer.
    pub(crate) async fn rest(&mut self) -> String {
        while self.more().await {}
        String::from_utf8(std::mem::take(&mut self.read)).unwrap()
    }

    async fn more(&mut self) -> bool {
        let mut piece = [0; 4096];
        let read = timeout(PATIENCE, self.stream.read(&mut piece)).await.expect("the answer goes on or ends");
        let read = read.unwrap_or(0);
        self.read.extend(&piece[..read]);
        read > 0
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

//! HTTP/1.1 by hand: as much of it as a server in a test needs.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

/// A request.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    /// By their names in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Bytes,
}

/// What is answered.
pub(crate) enum Reply {
    /// All at once.
    Whole { status: u16, kind: &'static str, more: Vec<(&'static str, String)>, body: Bytes },
    /// Events, until the sender is dropped.
    Stream(mpsc::UnboundedReceiver<String>),
}

pub(crate) fn whole(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    Reply::Whole { status, kind, more: Vec::new(), body: body.into() }
}

impl Reply {
    pub(crate) fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        if let Self::Whole { more, .. } = &mut self {
            more.push((header, value.into()));
        }
        self
    }
}

/// A stream of events, which ends when the sender is dropped.
pub(crate) fn stream() -> (mpsc::UnboundedSender<String>, Reply) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Reply::Stream(receiver))
}

/// Serves one connection to its end.
pub(crate) async fn serve<F: Future<Output = Reply>>(socket: TcpStream, handle: impl Fn(Asked) -> F) {
    let (reading, mut writing) = socket.into_split();
    let mut reading = BufReader::new(reading);
    while let Ok(Some(asked)) = read(&mut reading).await {
        let written = match handle(asked).await {
            Reply::Whole { status, kind, more, body } => {
                write_whole(&mut writing, status, kind, &more, &body).await
            }
            Reply::Stream(events) => write_stream(&mut reading, &mut writing, events).await,
        };
        if written.is_err() {
            return;
        }
    }
}

async fn read(reading: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Asked>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reading.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ');
    let (method, path) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    reading.read_exact(&mut body).await?;
    Ok(Some(Asked { method, path, headers, body: body.into() }))
}

async fn write_whole(
    writing: &mut OwnedWriteHalf,
    status: u16,
    kind: &str,
    more: &[(&str, String)],
    body: &[u8],
) -> io::Result<()> {
    let more: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}\r\n",
        body.len()
    );
    writing.write_all(head.as_bytes()).await?;
    writing.write_all(body).await
}

async fn write_stream(
    reading: &mut BufReader<OwnedReadHalf>,
    writing: &mut OwnedWriteHalf,
    mut events: mpsc::UnboundedReceiver<String>,
) -> io::Result<()> {
    let head = "HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    writing.write_all(head.as_bytes()).await?;
    loop {
        let text = tokio::select! {
            text = events.recv() => text,
            // A client says nothing more on this connection before the end, unless it goes away.
            read = reading.fill_buf() => match read?.is_empty() {
                true => return Err(io::ErrorKind::ConnectionReset.into()),
                false => events.recv().await,
            },
        };
        let Some(text) = text else { break };
        // Whatever is not JSON is written as it is.
        let event = if text.starts_with('{') { format!("data: {text}\n\n") } else { text };
        writing.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
    }
    writing.write_all(b"0\r\n\r\n").await
}

//! A model that answers at once, as an OpenAI-compatible server.

use std::io::{Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use memchr::memmem;

/// What it says to every prompt.
pub(super) const ANSWER: &str = "answered at once";

/// The whole of every answer, piece by piece as a model streams it.
const STREAM: &str = concat!(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"#,
    r#""delta":{"role":"assistant","content":"answered at once"},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"#,
    r#""finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#,
    "\n\ndata: [DONE]\n\n",
);

/// Starts it, and tells its address. It ends with the process.
pub(super) fn start() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || serve(stream).ok());
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) -> Result<()> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16384]);
    while !is_whole(&bytes) {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
    stream.write_all(STREAM.as_bytes())
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    bytes.len() >= end + 4 + length.unwrap_or(0)
}

//! One connection, and as much of HTTP as it takes to read an answer.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An open connection.
pub(crate) struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer. The body is as it was sent: where that was in chunks, their sizes stand in between.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
    head: &'a str,
}

impl Answer<'_> {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(self.head, name)
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { address, stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Where it leads.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (head_end, end) = loop {
            let read = self.stream.read_buf(&mut self.buffer).await?;
            ensure!(read > 0, "the server closed the connection");
            if let Some(ends) = ends(&self.buffer)? {
                break ends;
            }
        };
        ensure!(end == self.buffer.len(), "the server sent more than an answer");
        let (head, body) = self.buffer.split_at(head_end);
        let head = str::from_utf8(head)?;
        Ok(Answer { status: status(head).context("no status")?, body, head })
    }
}

/// Where the head ends, and where the whole answer does; `None` as long as it is not all there.
fn ends(buffer: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(head_end) = memmem::find(buffer, b"\r\n\r\n").map(|at| at + 4) else { return Ok(None) };
    let head = str::from_utf8(&buffer[..head_end])?;
    let end = if let Some(length) = header(head, "content-length") {
        Some(head_end + length.parse::<usize>()?)
    } else if header(head, "transfer-encoding").is_some() {
        chunks_end(buffer, head_end)?
    } else {
        ensure!(matches!(status(head), Some(202 | 204)), "an answer without a length: {head}");
        Some(head_end)
    };
    Ok(end.filter(|end| *end <= buffer.len()).map(|end| (head_end, end)))
}

fn chunks_end(buffer: &[u8], mut at: usize) -> Result<Option<usize>> {
    loop {
        let Some(line) = memmem::find(&buffer[at..], b"\r\n") else { return Ok(None) };
        let size = usize::from_str_radix(str::from_utf8(&buffer[at..at + line])?, 16)?;
        // The size, the chunk, and a line end behind each.
        at += line + 2 + size + 2;
        if at > buffer.len() {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

fn status(head: &str) -> Option<u16> {
    head.split(' ').nth(1)?.parse().ok()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expect: Option<&str>) {
        let ends = ends(answer.as_bytes()).unwrap();
        assert_eq!(ends.map(|(from, to)| &answer[from..to]), expect, "{answer:?}");
    }

    #[test]
    fn an_answer_ends_where_its_length_says() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Some("{}"));
        check("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}", None);
        check("HTTP/1.1 200 OK\r\ncontent-le", None);
        check("HTTP/1.1 202 Accepted\r\n\r\n", Some(""));
    }

    #[test]
    fn an_answer_in_chunks_ends_with_an_empty_one() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{head}2\r\n{{}}\r\n0\r\n\r\n"), Some("2\r\n{}\r\n0\r\n\r\n"));
        check(&format!("{head}2\r\n{{}}\r\n0\r\n"), None);
        check(&format!("{head}a\r\n{{}}"), None);
        check(head, None);
    }

    #[test]
    fn headers_are_found_by_any_case() {
        let head = "HTTP/1.1 200 OK\r\nMcp-Session-Id: a1\r\n\r\n";
        assert_eq!((status(head), header(head, "mcp-session-id")), (Some(200), Some("a1")));
    }
}

//! The head of a request or an answer: read within limits, and passed on without what is only for us.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};
use url::Url;

/// The longest head.
const MOST: u64 = 256 * 1024;

/// What is only for the next hop.
const HOP: [&str; 6] =
    ["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade"];

/// The head of a request or an answer.
pub(super) struct Head {
    first: String,
    headers: Vec<String>,
}

/// What a request wants of a proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A connection to a host.
    Tunnel { host: String, port: u16 },
    /// What is at an address, without encryption; `line` is how its server is asked.
    Plain { host: String, port: u16, line: String },
}

impl Head {
    /// Reads one; none at the end, or where it is too long or no text.
    pub(super) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let mut limited = stream.take(MOST);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = limited.read_until(b'\n', &mut line).await?;
            if read == 0 || !line.ends_with(b"\n") {
                return Ok(None);
            }
            // Headers may hold any byte; each becomes the character of the same number, and back.
            let line: String = line.iter().map(|&byte| char::from(byte)).collect();
            let line = line.trim_end_matches(['\r', '\n']);
            match (line.is_empty(), lines.is_empty()) {
                (true, true) => {}
                (true, false) => break,
                (false, _) => lines.push(line.to_owned()),
            }
        }
        let first = lines.remove(0);
        Ok(Some(Self { first, headers: lines }))
    }

    /// What a request wants; nothing if it is none for a proxy.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        let mut words = self.first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = target.rsplit_once(':')?;
            return Some(Wanted::Tunnel { host: bare(host)?, port: port.parse().ok()? });
        }
        let url = Url::parse(target).ok().filter(|url| url.scheme() == "http")?;
        let (host, port) = (bare(url.host_str()?)?, url.port_or_known_default()?);
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        Some(Wanted::Plain { host, port, line: format!("{method} {path} HTTP/1.1") })
    }

    /// The head as the server gets it, with another first line.
    pub(super) fn forwarded(&self, line: &str) -> Vec<u8> {
        self.written(line)
    }

    /// The head of an answer as the browser gets it.
    pub(super) fn answered(&self) -> Vec<u8> {
        self.written(&self.first)
    }

    /// Whether another answer follows this one.
    pub(super) fn is_interim(&self) -> bool {
        self.first.split(' ').nth(1).is_some_and(|status| status.starts_with('1'))
    }

    fn written(&self, first: &str) -> Vec<u8> {
        let named = |header: &&String| {
            let name = header.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
            !HOP.contains(&name.as_str())
        };
        let mut text = format!("{first}\r\n");
        for header in self.headers.iter().filter(named) {
            text.push_str(header);
            text.push_str("\r\n");
        }
        if !self.is_interim() {
            text.push_str("Connection: close\r\n");
        }
        text.push_str("\r\n");
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    }
}

/// A host without the brackets of an IPv6 address.
fn bare(host: &str) -> Option<String> {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn head(text: &[u8]) -> Option<Head> {
        Head::read(&mut { text }).await.unwrap()
    }

    #[tokio::test]
    async fn what_is_wanted_is_read_from_the_first_line() {
        async fn check(line: &str, expect: Option<Wanted>) {
            let head = head(format!("{line}\r\nHost: other\r\n\r\n").as_bytes()).await.unwrap();
            assert_eq!(head.wanted(), expect, "{line}");
        }
        let tunnel = |host: &str, port| Some(Wanted::Tunnel { host: host.into(), port });
        let plain =
            |host: &str, port, line: &str| Some(Wanted::Plain { host: host.into(), port, line: line.into() });
        check("CONNECT a.example:443 HTTP/1.1", tunnel("a.example", 443)).await;
        check("CONNECT [::1]:8443 HTTP/1.1", tunnel("::1", 8443)).await;
        check("GET http://a.example/x?y=1#z HTTP/1.1", plain("a.example", 80, "GET /x?y=1 HTTP/1.1")).await;
        check("POST http://[::1]:81 HTTP/1.0", plain("::1", 81, "POST / HTTP/1.1")).await;
        // The user's name is none of the host.
        check("GET http://good@evil.example/ HTTP/1.1", plain("evil.example", 80, "GET / HTTP/1.1")).await;
        for line in [
            "GET / HTTP/1.1",
            "GET ftp://a.example/ HTTP/1.1",
            "GET https://a.example/ HTTP/1.1",
            "CONNECT a.example HTTP/1.1",
            "CONNECT :443 HTTP/1.1",
            "CONNECT a.example:99999 HTTP/1.1",
            "GET http://a.example/ x HTTP/1.1",
            "GET http://a.example/",
            "nonsense",
        ] {
            check(line, None).await;
        }
    }

    #[tokio::test]
    async fn what_is_for_one_hop_is_not_passed_on() {
        let text = b"GET http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Connection: x\r\nConnection: keep-alive\r\nX: \xff\r\n\r\n";
        let head = head(text).await.unwrap();
        assert_eq!(
            head.forwarded("GET / HTTP/1.1"),
            b"GET / HTTP/1.1\r\nHost: a\r\nX: \xff\r\nConnection: close\r\n\r\n"
        );
        let interim = Head { first: "HTTP/1.1 100 Continue".into(), headers: vec![] };
        assert_eq!(interim.answered(), b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    #[tokio::test]
    async fn a_head_that_is_cut_off_or_endless_is_none() {
        assert!(head(b"").await.is_none());
        assert!(head(b"GET http://a/ HTTP/1.1\r\nHost").await.is_none());
        let endless = [b"GET http://a/ HTTP/1.1\r\n".to_vec(), b"X: y\r\n".repeat(100_000)].concat();
        assert!(head(&endless).await.is_none());
    }
}

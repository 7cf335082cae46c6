//! Requests one by one, each on a connection of its own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Posts a message, and reads the whole answer, head and all.
pub(super) fn post(to: SocketAddr, path: &str, body: &str) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    ensure!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
    Ok(answer)
}

/// The id of a session in an answer.
pub(super) fn session(answer: &[u8]) -> Result<String> {
    let place = memmem::find(answer, b"ses_").context("the answer names no session")?;
    let id = answer[place..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    Ok(id.map(|byte| char::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_id() {
        assert_eq!(session(br#"x {"id":"ses_1aB","slug":"s"}"#).unwrap(), "ses_1aB");
        assert!(session(b"{}").is_err());
    }
}

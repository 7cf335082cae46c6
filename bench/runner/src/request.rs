//! The messages that are sent, and the check of what comes back.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use memchr::memmem;

/// What the echo tool is asked to say.
const TEXT: &[u8] = br#""text":"hello world""#;

/// Which revisions of the protocol a call belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// Where servers listen, but for some.
pub(crate) const PATH: &str = "/mcp";

/// A call as an HTTP request.
pub(crate) fn call(to: SocketAddr, path: &str, era: Era, session: Option<&str>) -> Vec<u8> {
    let version = match era {
        Era::Legacy => "MCP-Protocol-Version: 2025-11-25\r\n",
        Era::Modern => {
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: test_echo\r\n"
        }
    };
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    post(to, path, &format!("{version}{session}"), &call_message(era, 1))
}

/// The call itself.
pub(crate) fn call_message(era: Era, id: usize) -> String {
    let meta = match era {
        Era::Legacy => "",
        Era::Modern => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}},"#
        }
    };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"test_echo","arguments":{{"message":"hello world"}}}}}}"#
    )
}

/// The first message of a legacy client.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#;

/// The second message of a legacy client, which has no answer.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// `tools/list` as an HTTP request, complete in itself.
pub(crate) fn list(to: SocketAddr) -> Vec<u8> {
    post(to, PATH, "", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
}

/// `initialize` as an HTTP request.
pub(crate) fn initialize(to: SocketAddr, path: &str) -> Vec<u8> {
    post(to, path, "", INITIALIZE)
}

/// `notifications/initialized` as an HTTP request.
pub(crate) fn initialized(to: SocketAddr, path: &str, session: &str) -> Vec<u8> {
    let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    post(to, path, &headers, INITIALIZED)
}

fn post(to: SocketAddr, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: bench\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Whether an answer, or the bytes around it, says what the call asked for.
pub(crate) fn check(answer: &[u8]) -> Result<()> {
    let said = memmem::find(answer, TEXT).is_some() && memmem::find(answer, br#""isError":true"#).is_none();
    ensure!(said, "a wrong answer: {}", String::from_utf8_lossy(answer));
    Ok(())
}

/// The id of an answer, where that is a small number.
pub(crate) fn id(answer: &[u8]) -> Option<usize> {
    let key = br#""id":"#;
    let digits = answer.get(memmem::find(answer, key)? + key.len()..)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_from_a_refusal() {
        assert!(check(br#"{"result":{"content":[{"type":"text","text":"hello world"}]}}"#).is_ok());
        assert!(check(br#"{"result":{"content":[{"text":"hello world"}],"isError":true}}"#).is_err());
        assert!(check(br#"{"error":{"code":-32602,"message":"hello world"}}"#).is_err());
    }

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        assert_eq!(id(br#"{"jsonrpc":"2.0","id":12,"result":{}}"#), Some(12));
        assert_eq!(id(br#"{"result":{},"jsonrpc":"2.0","id":3}"#), Some(3));
        assert_eq!(id(br#"{"id":"x"}"#), None);
        assert_eq!(id(br#"{"method":"notifications/message"}"#), None);
    }

    #[test]
    fn messages_are_json() {
        for era in [Era::Legacy, Era::Modern] {
            assert!(serde_json::from_str::<serde_json::Value>(&call_message(era, 7)).is_ok());
        }
    }
}

//! What a person is told who started `serve` by hand. It goes to standard error: standard output is the protocol's.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;

use serde_json::{Value, json};
use toolgate_core::{Hub, ListKind, Principal};

/// Says what waits here, if a person sits where a client should.
pub(crate) fn stdio() {
    if std::io::stdin().is_terminal() {
        say("toolgate waits for the messages of an MCP client on standard input; Ctrl-C ends it\n\
             hint: add `toolgate serve` to a client, or see `toolgate tools list` and `toolgate serve --help`\n");
    }
}

/// Says where the server listens: to a person at length, to a log in one line.
pub(crate) async fn http(hub: &Hub, address: SocketAddr, needs_token: bool, set_up: Option<&str>) {
    if !std::io::stderr().is_terminal() {
        tracing::info!("listening on http://{address}/mcp");
        if let Some(link) = set_up {
            say(&format!("set up the admin page once, within a day: {link}\n"));
        }
        return;
    }
    let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
    let mut packs: Vec<(String, usize)> = Vec::new();
    for (source, _) in view.tools_by_source() {
        match packs.last_mut().filter(|(last, _)| last == source) {
            Some((_, count)) => *count += 1,
            None => packs.push((source.to_owned(), 1)),
        }
    }
    say(&text(address, &packs, needs_token));
    if let Some(link) = set_up {
        say(&format!("\nSet up the admin page once, within a day:\n{link}\n"));
    }
}

fn say(text: &str) {
    // A terminal that is gone needs no greeting.
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}

fn text(address: SocketAddr, packs: &[(String, usize)], needs_token: bool) -> String {
    let url = url(address);
    let total: usize = packs.iter().map(|(_, count)| count).sum();
    let packs: Vec<String> = packs.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let entry = serde_json::to_string_pretty(&entry(&url, needs_token)).unwrap_or_default();
    let elsewhere = if address.ip().is_unspecified() {
        "Other machines use this machine's name instead of the number.\n"
    } else {
        ""
    };
    format!(
        "toolgate {} listens on {url}\n{total} tools: {}\n\nFor a client's configuration:\n\n{entry}\n\n\
         {elsewhere}Ctrl-C ends it.\n",
        env!("CARGO_PKG_VERSION"),
        packs.join(", "),
    )
}

/// Where a client on this machine finds us.
fn url(address: SocketAddr) -> String {
    format!("{}/mcp", base(address))
}

/// Where someone on this machine finds us.
pub(crate) fn base(address: SocketAddr) -> String {
    let host = match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => "127.0.0.1".to_owned(),
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => "[::1]".to_owned(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    };
    format!("http://{host}:{}", address.port())
}

/// The token itself is not shown: terminals are photographed and recorded.
fn entry(url: &str, needs_token: bool) -> Value {
    let mut server = json!({"type": "http", "url": url});
    if needs_token {
        server["headers"] = json!({"Authorization": "Bearer YOUR-TOKEN"});
    }
    json!({"mcpServers": {"toolgate": server}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_an_address_that_it_can_reach() {
        for (address, expect) in [
            ("127.0.0.1:3000", "http://127.0.0.1:3000/mcp"),
            ("0.0.0.0:80", "http://127.0.0.1:80/mcp"),
            ("[::1]:3000", "http://[::1]:3000/mcp"),
            ("[::]:3000", "http://[::1]:3000/mcp"),
            ("192.0.2.7:3000", "http://192.0.2.7:3000/mcp"),
        ] {
            assert_eq!(url(address.parse().unwrap()), expect);
        }
    }

    #[test]
    fn the_token_is_named_but_not_shown() {
        let text =
            text("0.0.0.0:3000".parse().unwrap(), &[("memory".into(), 2), ("workspace".into(), 3)], true);
        assert!(text.contains("5 tools: memory 2, workspace 3\n"), "{text}");
        assert!(text.contains("Bearer YOUR-TOKEN") && text.contains("Other machines"), "{text}");
    }
}

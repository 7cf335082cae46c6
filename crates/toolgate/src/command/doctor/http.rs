//! Whether `serve --http` could listen where it is configured to.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::{Finding, State};
use crate::settings::{Settings, Transport};

/// How long whoever listens there gets to say who it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most that is read of what it says.
const MOST: u64 = 64 * 1024;

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    // What `serve` needs as it is configured is broken; what only `--http` would need is weak.
    let bad = match settings.transport {
        Transport::Http => State::Broken,
        Transport::Stdio => State::Weak,
    };
    let address = match settings.http.address() {
        Ok(address) => address,
        Err(error) => {
            let text = error.to_string();
            let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, "see `http.bind`"));
            return vec![Finding::new(bad, message).hint(hint)];
        }
    };
    let mut findings = vec![port(address, bad)];
    // Tokens of our own are in the store; where there is none, there are none.
    let knows_anyone = settings.http.token.is_some()
        || settings.http.oauth.issuer.is_some()
        || settings.store.place(&settings.data_dir).is_ok_and(|place| place.exists());
    if !address.ip().is_loopback() && !knows_anyone {
        findings.push(
            Finding::new(bad, format!("`{address}` can be reached from elsewhere, which needs a token"))
                .hint("make one with `toolgate token create NAME`, or set `http.token` or `http.oauth`"),
        );
    }
    findings
}

fn port(address: SocketAddr, bad: State) -> Finding {
    if address.port() == 0 {
        return Finding::new(State::Ok, "any free port is taken");
    }
    let Err(error) = TcpListener::bind(address) else {
        return Finding::new(State::Ok, format!("`{address}` is free"));
    };
    if error.kind() == ErrorKind::AddrInUse {
        return if is_ours(address) {
            Finding::new(State::Ok, format!("Toolgate answers at `http://{address}/mcp`"))
        } else {
            Finding::new(bad, format!("`{address}` is in use by another program"))
                .hint("choose another with `http.port` or `--port`")
        };
    }
    if error.kind() == ErrorKind::PermissionDenied {
        return Finding::new(bad, format!("`{address}` may not be used"))
            .hint("choose a port of 1024 or above with `http.port`");
    }
    Finding::new(bad, format!("`{address}` cannot be used: {error}"))
        .hint("choose an address of this machine with `http.bind`")
}

/// Whether it answers as we do.
fn is_ours(address: SocketAddr) -> bool {
    let health = health(address).unwrap_or_default();
    health["status"].is_string() && health["sources"].is_array() && health["sessions"].is_u64()
}

fn health(address: SocketAddr) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.take(MOST).read_to_string(&mut text)?;
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok(serde_json::from_str(body)?)
}

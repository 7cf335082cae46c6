//! What server and forwarder share: where they listen, and how they say so. It knows no protocol.

use std::net::Ipv4Addr;

use tokio::net::TcpListener;

/// Listens on a free port of loopback, and names it on standard error as Toolgate does.
#[expect(clippy::print_stderr, reason = "the benchmark reads the address there")]
pub async fn listen() -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(listener)
}

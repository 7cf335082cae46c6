//! Standard input and output: one JSON-RPC message a line, and nothing else on stdout.

mod output;

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Hub, Principal, Transport};
use toolgate_wire::lines::Item;
use toolgate_wire::{Lines, code, write};

use crate::connection::{Connection, Who};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// What a client on standard input may ask of us.
#[derive(Debug, Clone, Copy)]
pub struct StdioLimits {
    /// The longest line, in bytes.
    pub line: usize,
    /// Requests under way at once.
    pub requests: usize,
    /// How long requests under way may go on after the end of input.
    pub grace: Duration,
}

impl Default for StdioLimits {
    fn default() -> Self {
        Self { line: 16 * 1024 * 1024, requests: 1024, grace: Duration::from_secs(2) }
    }
}

/// Serves one client, by a named view if there is one, until its input ends or `stop` is cancelled; then all that is under way gets its grace.
pub async fn serve(
    hub: Hub,
    profile: Option<Arc<str>>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Send + Unpin + 'static,
    limits: StdioLimits,
    stop: CancellationToken,
) {
    let who = Who { profile, ..Who::new(Principal::local(), Transport::Stdio) };
    serve_as(hub, who, (input, output), limits, stop).await;
}

/// Serves one client that speaks as one on standard input and output does, wherever it is.
pub(crate) async fn serve_as(
    hub: Hub,
    who: Who,
    (input, output): (impl AsyncRead + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    limits: StdioLimits,
    stop: CancellationToken,
) {
    // The writer outlives the requests, so it belongs to the hub and not to them.
    let (frames, written) = output::start(hub.tasks(), output);
    let tasks = hub.tasks().child();
    let farewell = who.farewell.clone();
    let connection = Connection::new(hub, who, tasks.clone(), frames, limits.requests);
    tokio::select! {
        () = read(&connection, input, limits.line) => {}
        () = stop.cancelled() => if let Some(farewell) = farewell {
            drop(tokio::time::timeout(limits.grace, connection.send(farewell)).await);
        },
        () = connection.closed() => {}
    }
    connection.drain(limits.grace).await;
    drop(connection);
    tasks.shutdown(Duration::from_millis(100)).await;
    // A client that neither reads nor leaves keeps us for as long as nobody tells us to stop.
    let impatient = async {
        stop.cancelled().await;
        tokio::time::sleep(limits.grace).await;
    };
    tokio::select! {
        written = written => if written.is_err() {
            tracing::debug!("the writer ended early");
        },
        () = impatient => tracing::warn!("nobody reads standard output; some answers are lost"),
    }
}

async fn read(connection: &Arc<Connection>, mut input: impl AsyncRead + Unpin, longest: usize) {
    let mut lines = Lines::new(longest);
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(CHUNK);
        match input.read_buf(&mut buffer).await {
            Ok(0) => break,
            Ok(_) => lines.push(buffer.split().freeze()),
            Err(error) => {
                tracing::error!(%error, "standard input cannot be read");
                break;
            }
        }
        take(connection, &mut lines, longest).await;
    }
    lines.finish();
    take(connection, &mut lines, longest).await;
}

async fn take(connection: &Arc<Connection>, lines: &mut Lines, longest: usize) {
    for item in lines {
        match item {
            Item::Line(line) => connection.take(line).await,
            Item::TooLong { dropped } => {
                let message = format!("a line of {dropped} bytes is longer than {longest} bytes");
                connection.send(write::error(None, code::INVALID_REQUEST, &message, None)).await;
            }
        }
    }
}

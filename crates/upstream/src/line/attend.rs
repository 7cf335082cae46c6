//! What goes on beside the calls of a connection: listening for changes.

use std::convert::Infallible;

use tokio::sync::watch;
use toolgate_wire::Era;

use super::Line;
use super::listen::listen;
use crate::link::Link;
use crate::supervisor::Shared;

/// Attends to a connection for as long as it lasts.
pub(super) async fn attend(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    match link.era() {
        Era::Legacy => subscribe(line, link, shared).await,
        Era::Modern => listen(line, link, shared).await,
    }
}

/// Tells a server that was connected anew what is watched, and from then on what is or is not any more.
async fn subscribe(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    let mut changes = shared.watches.changes();
    loop {
        link.tell_watched(line, shared).await;
        changed(line, &mut changes).await;
    }
}

/// Waits until what is watched through a line may not be what it was.
pub(super) async fn changed(line: &Line, changes: &mut watch::Receiver<()>) {
    tokio::select! {
        // Who tells of it is there for as long as the upstream.
        _ = changes.changed() => {}
        () = line.rewatch.notified() => {}
    }
}

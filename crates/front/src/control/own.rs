//! Owning the control socket from the moment it is free, and serving a client in the place of a hub that is gone.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_core::{Hub, Principal, Transport};

use super::bridge::Link;
use super::client::stand_by;
use super::{About, Owned};
use crate::connection::Who;
use crate::stdio::{StdioLimits, serve_as};

/// How long to wait before the socket is tried again, when its owner is just coming or going.
const PAUSE: Duration = Duration::from_millis(100);

/// How much may wait between the two ends of a client that is served within one process.
const PIPE: usize = 64 * 1024;

/// Owns the control socket of a data folder for as long as the hub lives: from now on, or from when the process
/// that owns it is gone.
pub async fn keep(folder: PathBuf, owned: Option<Owned>, hub: Hub, about: About, stop: CancellationToken) {
    if let Some(owned) = owned {
        return owned.serve(hub, about, stop).await;
    }
    let ending = hub.tasks().stopping();
    let free = async {
        loop {
            match Owned::claim(&folder) {
                Ok(Some(owned)) => return Some(owned),
                Ok(None) => stand_by(&folder, &about).await,
                Err(error) => {
                    tracing::warn!(
                        "`toolgate status` and `serve --attach` will not find this process: {error}"
                    );
                    return None;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let owned = tokio::select! {
        owned = free => owned,
        () = stop.cancelled() => None,
        () = ending.cancelled() => None,
    };
    if let Some(owned) = owned {
        tracing::debug!(folder = %folder.display(), "owns the control socket");
        owned.serve(hub, about, stop).await;
    }
}

/// Serves this process's own client, who was served by another hub before.
pub fn serve_here(
    hub: &Hub,
    profile: Option<Arc<str>>,
    first_question: u64,
    stop: CancellationToken,
) -> Link {
    let (near, far) = tokio::io::duplex(PIPE);
    let who = Who { profile, first_question, ..Who::new(Principal::local(), Transport::Stdio) };
    let serving = serve_as(hub.clone(), who, tokio::io::split(far), StdioLimits::default(), stop);
    hub.tasks().spawn(serving);
    Link::new(tokio::io::split(near))
}

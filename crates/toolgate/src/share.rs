//! What this process says of itself to others on the same data folder.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolgate_config::process_environment;
use toolgate_core::Hub;
use toolgate_front::control::{self, About, Owned, Status, Terms};
use toolgate_host::Clock;

use crate::above::{Above, name};
use crate::settings::{Reloader, Settings};

/// The name of the configuration file among the terms.
const FILE: &str = "config";

/// What has to be the same in two processes for one to serve the other's client: what it may use, and where.
pub(crate) fn terms(fixtures: bool, settings: &Settings) -> Terms {
    let path = |path: Option<&Path>| path.map(name).unwrap_or_default();
    let packs: Vec<String> = settings.packs.iter().map(|pack| format!("{pack:?}").to_lowercase()).collect();
    let terms = [
        (FILE, path(settings.file.as_deref())),
        ("workspace", path(settings.workspace.root.as_deref())),
        ("memory", path(settings.memory.root.as_deref())),
        ("packs", packs.join(", ")),
        ("fixtures", fixtures.to_string()),
    ];
    terms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The configuration file that a running hub reads; empty without one.
pub(crate) fn file_of(status: &Status) -> Option<&str> {
    status.terms.get(FILE).map(String::as_str)
}

/// What this process says of itself.
pub(crate) fn about(
    transport: &'static str,
    address: Option<SocketAddr>,
    fixtures: bool,
    reloader: &Arc<Reloader>,
) -> About {
    let (asked, reloaded) = (reloader.clone(), reloader.clone());
    About {
        version: env!("CARGO_PKG_VERSION"),
        transport,
        address,
        started_ms: Clock::system().unix_ms(),
        terms: Arc::new(move || terms(fixtures, &asked.newest().settings)),
        reload: Some(Arc::new(move || reloaded.now())),
    }
}

/// Owns the control socket of the data folder, now or once it is free, until the hub ends. Whoever finds us listening
/// finds our status too. A server of a hub on the same folder leaves it to that one.
pub(crate) fn keep(folder: &Path, owned: Option<Owned>, hub: &Hub, about: About, stop: &CancellationToken) {
    if Above::of(&process_environment()).is_on(folder) {
        return;
    }
    // Why it cannot be claimed is said by who goes on trying.
    let owned = owned.or_else(|| Owned::claim(folder).ok().flatten());
    hub.tasks().spawn(control::keep(folder.to_owned(), owned, hub.clone(), about, stop.clone()));
}

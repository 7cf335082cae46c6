//! What this process says of itself to others on the same data folder.

use std::net::SocketAddr;
use std::path::Path;

use tokio_util::sync::CancellationToken;
use toolgate_config::process_environment;
use toolgate_core::Hub;
use toolgate_front::control::{self, About, Owned, Terms};
use toolgate_host::Clock;

use crate::above::Above;
use crate::cli::Cli;
use crate::settings::Settings;

/// What has to be the same in two processes for one to serve the other's client: what it may use, and where.
pub(crate) fn terms(cli: &Cli, settings: &Settings) -> Terms {
    let path = |path: Option<&Path>| {
        let path = path.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        path.map_or_else(String::new, |path| path.to_string_lossy().into_owned())
    };
    let packs: Vec<String> = settings.packs.iter().map(|pack| format!("{pack:?}").to_lowercase()).collect();
    let terms = [
        ("config", path(settings.file.as_deref())),
        ("workspace", path(settings.workspace.root.as_deref())),
        ("memory", path(settings.memory.root.as_deref())),
        ("packs", packs.join(", ")),
        ("fixtures", cli.global.fixtures.to_string()),
    ];
    terms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What this process says of itself.
pub(crate) fn about(transport: &'static str, address: Option<SocketAddr>, terms: Terms) -> About {
    let started_ms = Clock::system().unix_ms();
    About { version: env!("CARGO_PKG_VERSION"), transport, address, started_ms, terms, reload: None }
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

//! `toolgate serve`: serve MCP clients until there are none, or until told to stop.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticator as _, Error, Hub, Kind};
use toolgate_front::http::Server;
use toolgate_front::stdio::{self, StdioLimits};
use toolgate_host::Tasks;
use toolgate_host::memory::give_back_when_quiet;

use crate::admin;
use crate::cli::{Cli, Command, Serve};
use crate::command::{Process, greeting};
use crate::gate::{Gate, Outside};
use crate::settings::{self, Settings, Sources, Transport};
use crate::share;

/// Serves as configured.
pub(crate) async fn run(cli: &Cli, settings: Settings, process: &Process) -> anyhow::Result<ExitCode> {
    let tasks = &process.tasks;
    let mut gate = Gate::new(&settings, cli.global.fixtures, process).await?;
    let hub = gate.hub.clone();
    let profile = profile(cli, &hub)?;
    let stop = stop_signal(tasks)?;
    keep_small(tasks);
    let reloader = settings::watch(cli, settings.clone(), tasks)?;
    let keep = |transport, address| {
        let about = share::about(transport, address, cli.global.fixtures, &reloader);
        share::keep(&settings.data_dir, None, &hub, about, &stop);
    };
    match settings.transport {
        Transport::Stdio => {
            greeting::stdio();
            gate.follow(&reloader, None);
            keep("stdio", None);
            let limits = StdioLimits::default();
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            stdio::serve(hub.clone(), profile, input, output, limits, stop.clone()).await;
        }
        Transport::Http => {
            let who = gate.identify().await?;
            let (http, identity) = (settings.http.clone(), Arc::new(who.clone()));
            let sources = Sources::of(cli)?;
            let mut admin = None;
            let server = Server::bind_with(hub.clone(), http, identity, |address| {
                let made = admin::make(gate.for_admin(&reloader, sources)?, &settings, address);
                Some(admin::site(admin.insert(made)))
            });
            let server = server.await?;
            let set_up = set_up(&gate, &settings, server.address()).await;
            gate.follow(&reloader, Some(Outside { access: server.access(), admin }));
            keep("http", Some(server.address()));
            let needs_token = who.demands() || !server.address().ip().is_loopback();
            greeting::http(&hub, server.address(), needs_token, set_up.as_deref()).await;
            server.serve(stop.clone()).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Has what is needed no more given back from time to time.
fn keep_small(tasks: &Tasks) {
    let owner = tasks.clone();
    let giving = async move { give_back_when_quiet(&owner).await };
    tasks.spawn(tasks.stopping().run_until_cancelled_owned(giving));
}

/// A link to set up the admin page, where nobody has done so.
async fn set_up(gate: &Gate, settings: &Settings, address: SocketAddr) -> Option<String> {
    if !settings.admin.enabled {
        return None;
    }
    let public = settings.http.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
    gate.first_link(&public.unwrap_or_else(|| greeting::base(address))).await
}

/// The profile that is asked for.
pub(super) fn profile(cli: &Cli, hub: &Hub) -> anyhow::Result<Option<Arc<str>>> {
    let Command::Serve(Serve { profile: Some(name), .. }) = &cli.command else { return Ok(None) };
    match hub.profile(name) {
        Some(profile) => Ok(Some(profile)),
        None => Err(Error::new(Kind::InvalidInput, format!("there is no profile `{name}`"))
            .hint("a profile is a table `[profiles.NAME]` of `toolgate.toml`")
            .into()),
    }
}

/// Cancelled by SIGTERM or SIGINT.
pub(super) fn stop_signal(tasks: &Tasks) -> anyhow::Result<CancellationToken> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tasks.spawn(tasks.stopping().run_until_cancelled_owned(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("asked to stop by SIGTERM"),
            _ = interrupt.recv() => tracing::info!("asked to stop by SIGINT"),
        }
        stopped.cancel();
    }));
    Ok(stop)
}

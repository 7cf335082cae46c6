//! `toolgate serve`: serve MCP clients until there are none, or until told to stop.

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use toolgate_core::Hub;
use toolgate_front::http::Server;
use toolgate_front::stdio::{self, StdioLimits};

use crate::command::greeting;
use crate::settings::{Settings, Transport};

/// Serves as configured.
pub(crate) async fn run(hub: Hub, settings: Settings) -> anyhow::Result<ExitCode> {
    let stop = stop_signal(&hub)?;
    match settings.transport {
        Transport::Stdio => {
            greeting::stdio();
            let limits = StdioLimits::default();
            stdio::serve(hub, tokio::io::stdin(), tokio::io::stdout(), limits, stop).await;
        }
        Transport::Http => {
            let needs_token = settings.http.token.is_some();
            let server = Server::bind(hub.clone(), settings.http).await?;
            greeting::http(&hub, server.address(), needs_token).await;
            server.serve(stop).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Cancelled by SIGTERM or SIGINT.
fn stop_signal(hub: &Hub) -> anyhow::Result<CancellationToken> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    hub.tasks().spawn(hub.tasks().stopping().run_until_cancelled_owned(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("asked to stop by SIGTERM"),
            _ = interrupt.recv() => tracing::info!("asked to stop by SIGINT"),
        }
        stopped.cancel();
    }));
    Ok(stop)
}

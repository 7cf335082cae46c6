//! `toolgate serve --attach`: serve the client by the hub that already runs.

use std::process::ExitCode;

use tokio_util::sync::CancellationToken;
use toolgate_config::process_environment;
use toolgate_core::Hub;
use toolgate_front::control::{Guest, Joined, Link, Owned, bridge, join, serve_here};
use toolgate_front::stdio::{self, StdioLimits};

use crate::above::Above;
use crate::cli::{Cli, Command};
use crate::command::{Process, greeting, serve};
use crate::gate::Gate;
use crate::settings::{self, Settings};
use crate::share;

/// Serves the client by the hub that already runs, or by one of this process.
pub(crate) async fn run(cli: &Cli, settings: Settings, process: &Process) -> anyhow::Result<ExitCode> {
    greeting::stdio();
    let stop = serve::stop_signal(&process.tasks)?;
    let profile = if let Command::Serve(serve) = &cli.command { serve.profile.clone() } else { None };
    let guest = Guest { terms: share::terms(cli.global.fixtures, &settings), profile };
    let here = Here { cli, settings, process, guest, stop: stop.clone() };
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let owned = match here.join(0).await {
        Ok(link) => {
            tracing::debug!("attached to the hub that runs");
            let mut failed = None;
            let next = async |first_question| match here.next(first_question).await {
                Ok(link) => Some(link),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            };
            bridge((input, output), link, next, stop).await;
            return failed.map_or(Ok(ExitCode::SUCCESS), Err);
        }
        Err(owned) => owned,
    };
    let hub = here.hub(owned).await?;
    let profile = serve::profile(cli, &hub)?;
    stdio::serve(hub, profile, input, output, StdioLimits::default(), stop).await;
    Ok(ExitCode::SUCCESS)
}

/// What this process needs to take the place of a hub that is gone.
struct Here<'a> {
    cli: &'a Cli,
    settings: Settings,
    process: &'a Process,
    guest: Guest,
    stop: CancellationToken,
}

impl Here<'_> {
    /// The way to the hub that runs, else what a hub of our own owns.
    async fn join(&self, first_question: u64) -> Result<Link, Option<Owned>> {
        let folder = &self.settings.data_dir;
        if Above::of(&process_environment()).is_on(folder) {
            tracing::info!("serves by itself: its client is the hub that runs");
            return Err(None);
        }
        match join(folder, &self.guest, first_question).await {
            Joined::Attached(link) => Ok(link),
            Joined::Owner(owned) => Err(Some(owned)),
            Joined::Alone(error) => {
                tracing::warn!("serves by itself: {error}");
                Err(None)
            }
        }
    }

    /// The way to the next hub: one of another process, or our own.
    async fn next(&self, first_question: u64) -> anyhow::Result<Link> {
        let owned = match self.join(first_question).await {
            Ok(link) => return Ok(link),
            Err(owned) => owned,
        };
        tracing::info!("takes the place of the hub that is gone");
        let hub = self.hub(owned).await?;
        let profile = serve::profile(self.cli, &hub)?;
        Ok(serve_here(&hub, profile, first_question, self.stop.clone()))
    }

    /// A hub of our own, which others may attach to.
    async fn hub(&self, owned: Option<Owned>) -> anyhow::Result<Hub> {
        let gate = Gate::new(&self.settings, self.cli.global.fixtures, self.process).await?;
        let hub = gate.hub.clone();
        let reloader = settings::watch(self.cli, self.settings.clone(), &self.process.tasks)?;
        gate.follow(&reloader, None);
        let about = share::about("stdio", None, self.cli.global.fixtures, &reloader);
        share::keep(&self.settings.data_dir, owned, &hub, about, &self.stop);
        Ok(hub)
    }
}

//! The commands, a file each.

mod attach;
mod completions;
mod config;
mod doctor;
mod greeting;
mod man;
mod progress;
mod reference;
mod serve;
mod service;
mod setup;
mod status;
mod table;
mod tools;

use std::process::ExitCode;
use std::time::Duration;

use toolgate_core::Hub;
use toolgate_host::Tasks;

use crate::cli::{Cli, Command};
use crate::gate::Gate;
use crate::logging;
use crate::settings::{self, Settings};

/// How long tasks get to end when a command is done.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a command.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        Command::Serve(serve) if serve.attach => {
            on_runtime(cli, async |settings, tasks| attach::run(cli, settings, tasks).await)
        }
        Command::Serve(_) => on_runtime(cli, async |settings, tasks| serve::run(cli, settings, tasks).await),
        Command::Status { json } => on_runtime(cli, async |settings, _| status::run(&settings, *json).await),
        Command::Service(service) => {
            on_runtime(cli, async |settings, _| service::run(&settings, service).await)
        }
        Command::Tools(tools) => on_hub(cli, async |hub| tools::run(&hub, tools).await),
        Command::Setup(setup) if setup::needs_tools(setup) => {
            on_hub(cli, async |hub| setup::run_with(cli, setup, &hub).await)
        }
        Command::Setup(setup) => setup::run(cli, setup, None),
        Command::Config(config) => config::run(cli, config),
        Command::Doctor { json } => doctor::run(cli, *json),
        Command::Completions { shell } => completions::run(*shell),
        Command::Man { dir } => man::run(dir.as_deref()),
        Command::Reference => reference::run(),
    }
}

/// Runs what needs a hub, on one made as configured.
fn on_hub(cli: &Cli, work: impl AsyncFnOnce(Hub) -> anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    on_runtime(cli, async |settings, tasks| work(Gate::new(&settings, cli.global.fixtures, tasks)?.hub).await)
}

/// Runs what needs the settings, and may start tasks.
fn on_runtime(
    cli: &Cli,
    work: impl AsyncFnOnce(Settings, &Tasks) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let settings = settings::load(cli)?;
    logging::init(&settings.log);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let tasks = Tasks::new();
        let code = work(settings, &tasks).await?;
        tasks.shutdown(GRACE).await;
        Ok(code)
    });
    // A read of standard input that never ends must not keep the process alive.
    runtime.shutdown_background();
    code
}

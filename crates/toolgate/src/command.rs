//! The commands, a file each.

mod serve;
mod tools;

use std::process::ExitCode;
use std::time::Duration;

use toolgate_host::Tasks;

use crate::cli::{Cli, Command};
use crate::gate;
use crate::settings::Settings;

/// How long tasks get to end when a command is done.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a command.
pub(crate) async fn run(cli: Cli, settings: Settings) -> anyhow::Result<ExitCode> {
    let tasks = Tasks::new();
    let hub = gate::hub(&settings, cli.global.fixtures, &tasks)?;
    let code = match cli.command {
        Command::Serve(_) => serve::run(hub, settings).await?,
        Command::Tools(tools) => tools::run(&hub, tools).await?,
    };
    tasks.shutdown(GRACE).await;
    Ok(code)
}

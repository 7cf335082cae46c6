//! `toolgate`: one gate between AI agents and everything they may use.
//!
//! This crate parses the command line, puts the parts together and turns outcomes into exit codes; it does nothing
//! itself.

mod cli;
mod command;
mod exit;
mod gate;
mod logging;
mod settings;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse_from(cli::arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match run(cli) {
        Ok(code) => code,
        Err(error) => exit::failed(&error),
    }
}

fn run(cli: cli::Cli) -> anyhow::Result<ExitCode> {
    let settings = settings::load(&cli)?;
    logging::init(&settings.log);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(command::run(cli, settings));
    // A read of standard input that never ends must not keep the process alive.
    runtime.shutdown_background();
    code
}

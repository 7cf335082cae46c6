//! `toolgate config`: see, check and change what is configured.

mod check;
pub(in crate::command) mod file;
mod init;
mod origin;
mod schema;
pub(in crate::command) mod set;
mod show;

use std::process::ExitCode;

use crate::cli::{Cli, Config};

/// Runs one of the subcommands.
pub(crate) fn run(cli: &Cli, config: &Config) -> anyhow::Result<ExitCode> {
    match config {
        Config::Show { key, json } => show::run(cli, key.as_deref(), *json),
        Config::Init { path, force } => init::run(cli, path.as_deref(), *force),
        Config::Check { file, json } => check::run(cli, file.as_deref(), *json),
        Config::Set { key, value } => set::set(cli, key, value),
        Config::Unset { key } => set::unset(cli, key),
        Config::Schema => schema::run(),
    }
}

//! `toolgate`: one gate between AI agents and everything they may use.
//!
//! This crate parses the command line, puts the parts together and turns outcomes into exit codes; it does nothing
//! itself.

mod above;
mod admin;
mod bug;
mod cli;
mod command;
mod diff;
mod exit;
mod gate;
mod logging;
mod packs;
mod parts;
mod settings;
mod share;
mod upstreams;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before anything else is made: a child has nothing but what it is handed.
    if arguments.next().is_some_and(|word| word == toolgate_script::COMMAND) {
        return toolgate_script::child(arguments);
    }
    bug::caught(run)
}

fn run() -> ExitCode {
    let cli = match cli::Cli::try_parse_from(cli::arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    command::run(&cli).unwrap_or_else(|error| exit::failed(&error))
}

//! `toolgate tools`: see and call the tools, as an MCP client would.

pub(crate) mod call;
mod list;
mod show;

use std::process::ExitCode;

use crate::cli::Tools;
use crate::gate::Gate;

pub(crate) use call::read as read_arguments;

/// Runs one of the subcommands.
pub(crate) async fn run(gate: &Gate, tools: &Tools) -> anyhow::Result<ExitCode> {
    let hub = &gate.hub;
    match tools {
        Tools::List { all, json } => list::run(gate, *all, *json).await,
        Tools::Show { tool, json } => show::run(hub, tool, *json).await,
        Tools::Call { tool, arguments, json } => call::run(hub, tool, arguments, *json).await,
    }
}

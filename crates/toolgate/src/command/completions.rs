//! `toolgate completions`: completions for a shell, from the definitions of the command line.

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::generate;
use clap_complete::shells::{Bash, Fish, Zsh};

use crate::cli::{Cli, Shell};

/// Prints the completions.
pub(crate) fn run(shell: Shell) -> anyhow::Result<ExitCode> {
    let (mut command, mut text) = (Cli::command(), Vec::new());
    match shell {
        Shell::Bash => generate(Bash, &mut command, "toolgate", &mut text),
        Shell::Zsh => generate(Zsh, &mut command, "toolgate", &mut text),
        Shell::Fish => generate(Fish, &mut command, "toolgate", &mut text),
    }
    std::io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

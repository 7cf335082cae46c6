//! `toolgate reference`: every command and its help as one page, for the documentation.

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::cli::Cli;

/// How wide the help is written, whatever terminal it is written on.
const WIDTH: usize = 100;

/// Prints the page.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let mut root = Cli::command().term_width(WIDTH);
    root.build();
    let mut page = String::from("# Commands\n\nWhat `toolgate COMMAND --help` says, on one page.\n");
    describe(&root, &mut page);
    std::io::stdout().lock().write_all(page.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a command and all below it.
fn describe(command: &clap::Command, page: &mut String) {
    let mut shown = command.clone();
    let name = shown.get_bin_name().unwrap_or(shown.get_name()).to_owned();
    page.push_str(&format!("\n## `{name}`\n\n```text\n"));
    for line in shown.render_long_help().to_string().trim_end().lines() {
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page.push_str("```\n");
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.for_each(|below| describe(below, page));
}

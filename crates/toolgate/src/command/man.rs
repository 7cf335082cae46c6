//! `toolgate man`: manual pages, from the definitions of the command line.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::Cli;

/// What every command ends with.
const EXIT_STATUS: &str = ".SH \"EXIT STATUS\"\n.TP\n0\nDone.\n.TP\n1\nFailed.\n.TP\n2\nWrong usage or \
     configuration.\n.TP\n70\nA bug of ours; please report it.\n";

/// Prints the page of the program, or writes those of all commands to a folder.
pub(crate) fn run(dir: Option<&Path>) -> anyhow::Result<ExitCode> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(dir) = dir else {
        std::io::stdout().lock().write_all(&page(&command)?.1)?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder `{}`", dir.display()))?;
    write(&command, dir)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and of all below it.
fn write(command: &Command, dir: &Path) -> anyhow::Result<()> {
    let (name, text) = page(command)?;
    let path = dir.join(name);
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    let mut below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.try_for_each(|below| write(below, dir))
}

/// The page of a command, and the name of its file.
fn page(command: &Command) -> anyhow::Result<(String, Vec<u8>)> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(examples) = command.get_after_help() {
        text.extend(section(&examples.to_string()).into_bytes());
    }
    text.extend(EXIT_STATUS.as_bytes());
    man.render_version_section(&mut text)?;
    Ok((man.get_filename(), text))
}

/// The examples as they stand, line by line: a page that fills its lines would run them together.
fn section(examples: &str) -> String {
    let lines = examples.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap_or(line));
    let lines: Vec<String> = lines.map(plain).collect();
    format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", lines.join("\n"))
}

/// A line that means nothing to the formatter.
fn plain(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}

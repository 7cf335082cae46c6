//! `toolgate check`, as it is typed.

use std::path::PathBuf;

use clap::Args;

use super::mcp::{header, pair};

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A server of the configuration, or the address of any.
    #[arg(value_name = "NAME|URL", required_unless_present_any = ["line", "list_rules"])]
    #[arg(conflicts_with_all = ["line", "list_rules"])]
    pub(crate) server: Option<String>,
    /// The program to start, and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "list_rules")]
    pub(crate) line: Vec<String>,
    /// A variable for the program.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, requires = "line")]
    pub(crate) variables: Vec<(String, String)>,
    /// A header for every request to the address.
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header, requires = "server")]
    pub(crate) headers: Vec<(String, String)>,
    /// How many milliseconds an answer may take.
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// Fail on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write the report as JUnit XML to this file, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// List all rules, a sentence each, and check nothing.
    #[arg(long)]
    pub(crate) list_rules: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

//! The command line, as it is typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One gate between AI agents and everything they may use.
///
/// Toolgate is an MCP server. Add `toolgate serve` to an MCP client, or try it from here:
/// `toolgate tools list`, then `toolgate tools call workspace_list`.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Read this configuration file instead of `toolgate.toml` in the working folder or the user's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What to log to standard error.
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
    /// The folder that workspace tools work on.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Add the tools of the protocol's conformance suite.
    #[arg(long, global = true, hide = true)]
    pub(crate) fixtures: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
    None,
}

impl LogLevel {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::None => "none",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP clients: over standard input and output, or over HTTP.
    ///
    /// A client that starts `toolgate serve` itself talks to it over standard input and output:
    ///
    ///   echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | toolgate serve
    ///
    /// With `--http` any number of clients connect to http://127.0.0.1:3000/mcp.
    #[command(verbatim_doc_comment)]
    Serve(Serve),
    /// See and call the tools, as an MCP client would.
    #[command(subcommand)]
    Tools(Tools),
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve over HTTP instead of standard input and output.
    #[arg(long)]
    pub(crate) http: bool,
    /// The address to listen on; beyond loopback it needs `http.token`.
    #[arg(long, value_name = "ADDRESS", requires = "http")]
    pub(crate) host: Option<String>,
    /// The port to listen on; 0 takes any free one.
    #[arg(long, value_name = "PORT", requires = "http")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List the tools.
    List {
        /// Show every tool with its description and hints.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a tool does and what it takes.
    Show {
        /// The tool's name.
        tool: String,
        /// Print its definition as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Call a tool and print its answer.
    ///
    /// Arguments are `key=value` pairs, where a value that is JSON counts as such, or one JSON object:
    ///
    ///   toolgate tools call workspace_read path=notes.md
    ///   toolgate tools call workspace_read '{"path": "notes.md"}'
    #[command(verbatim_doc_comment)]
    Call {
        /// The tool's name.
        tool: String,
        /// `key=value` pairs, or one JSON object.
        #[arg(value_name = "ARGUMENT")]
        arguments: Vec<String>,
        /// Print the whole result as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The command line with `--mcp` read as `serve`, for configurations that start a server so.
pub(crate) fn arguments(given: impl Iterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let alias = |(place, word): (usize, std::ffi::OsString)| {
        if place == 1 && word == "--mcp" { "serve".into() } else { word }
    };
    given.enumerate().map(alias).collect()
}

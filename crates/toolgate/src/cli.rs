//! The command line, as it is typed.

mod admin;
mod approvals;
mod audit;
mod check;
mod config;
mod examples;
mod mcp;
mod pins;
mod policy;
mod script;
mod secret;
pub(crate) mod setup;
pub(crate) mod span;
mod token;

use std::path::PathBuf;

pub(crate) use admin::Admin;
pub(crate) use approvals::{Approvals, Lasting};
pub(crate) use audit::{Audit, Which};
pub(crate) use check::Check;
pub(crate) use config::Config;
pub(crate) use mcp::{Add, Auth, Import, Logout, Mcp, Named};
pub(crate) use pins::Pins;
pub(crate) use policy::Policy;
pub(crate) use script::{RunScript, Script};
pub(crate) use secret::Secret;
pub(crate) use setup::Setup;
pub(crate) use token::Token;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One gate between AI agents and everything they may use.
///
/// Toolgate is an MCP server: an AI client talks to it, and behind it stand tools. Every call passes one policy,
/// whatever tool it is for and whichever client it came from.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = examples::TOOLGATE)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where the help shows options of every command.
const GLOBAL: &str = "Options of every command";

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Read this configuration file instead of `toolgate.toml` in the working folder or the user's.
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub(crate) config: Option<PathBuf>,
    /// What to log to standard error.
    #[arg(long, global = true, value_name = "LEVEL", help_heading = GLOBAL)]
    pub(crate) log_level: Option<LogLevel>,
    /// The folder that workspace tools work on.
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
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
    /// A client that starts `toolgate serve` itself talks to it over standard input and output. With `--http` any
    /// number of clients connect to it, by default at http://127.0.0.1:3000/mcp.
    #[command(after_help = examples::SERVE)]
    Serve(Serve),
    /// Say who is connected to the running hub, and what runs.
    ///
    /// It asks the process that owns the data folder. It ends with 0 if one runs, and with 1 if none does.
    #[command(after_help = examples::STATUS)]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run `serve --http` as a service of the user's systemd.
    #[command(subcommand, after_help = examples::SERVICE)]
    Service(Service),
    /// See and call the tools, as an MCP client would.
    #[command(subcommand, after_help = examples::TOOLS)]
    Tools(Tools),
    /// Use other MCP servers: add, import, test and watch them.
    #[command(subcommand, after_help = mcp::MCP)]
    Mcp(Mcp),
    /// Check any MCP server: its definitions, how it converses, its messages, and what is unsafe about it.
    ///
    /// It speaks to the server in both eras of the protocol, and calls only tools that call themselves read-only. It
    /// ends with 0 if nothing worse than a warning was found, with 1 if something was, and with 2 if the server could
    /// not be checked.
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Add Toolgate to an AI client, or take it out again.
    ///
    /// Without a client it shows which are installed and what each has of Toolgate. With one it shows the change as a
    /// diff; `--write` makes it, with a copy of the old file beside it, and touches nothing but its own entry.
    #[command(after_help = examples::SETUP)]
    Setup(Setup),
    /// Answer calls that wait for a person.
    #[command(subcommand, after_help = examples::APPROVALS)]
    Approvals(Approvals),
    /// Say what the policy makes of a call, and check it against expectations.
    #[command(subcommand, after_help = examples::POLICY)]
    Policy(Policy),
    /// Make and revoke the tokens by which clients are known over HTTP.
    #[command(subcommand, after_help = examples::TOKEN)]
    Token(Token),
    /// Keep secrets that the configuration uses and nobody else sees.
    #[command(subcommand, after_help = examples::SECRET)]
    Secret(Secret),
    /// Look at scripts, approve and run them.
    #[command(subcommand, after_help = examples::SCRIPT)]
    Script(Script),
    /// Search, export and verify the record of all calls.
    #[command(subcommand, after_help = examples::AUDIT)]
    Audit(Audit),
    /// Let people in to the admin page: links to set up an account, and who has one.
    #[command(subcommand, after_help = examples::ADMIN)]
    Admin(Admin),
    /// See which tools of other servers are held because their definition changed, and accept them.
    #[command(subcommand, after_help = examples::PINS)]
    Pins(Pins),
    /// See, check and change the configuration.
    #[command(subcommand, after_help = examples::CONFIG)]
    Config(Config),
    /// Say what is configured, found, missing or weaker than it could be, each with the next step.
    ///
    /// It changes nothing. It ends with 0 if nothing is broken, with 1 if something is, and with 2 if the
    /// configuration is.
    #[command(after_help = examples::DOCTOR)]
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the completions for a shell.
    ///
    /// They complete commands, options and their values.
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder.
    #[command(after_help = examples::MAN)]
    Man {
        /// Write a page for every command to this folder, which is made if it is missing.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print every command and its help as one page.
    #[command(hide = true)]
    Reference,
}

/// A shell that completions can be written for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve over HTTP instead of standard input and output.
    #[arg(long)]
    pub(crate) http: bool,
    /// The address to listen on; beyond loopback clients need a token, as of `toolgate token create`.
    #[arg(long, value_name = "ADDRESS", requires = "http")]
    pub(crate) host: Option<String>,
    /// The port to listen on; 0 takes any free one.
    #[arg(long, value_name = "PORT", requires = "http")]
    pub(crate) port: Option<u16>,
    /// Serve the client on standard input and output by the hub that already runs on the data folder.
    ///
    /// Then all clients share one hub with its sources. If none runs, this process becomes it; if it ends, this
    /// process or another one takes its place, and the client goes on.
    #[arg(long, conflicts_with = "http")]
    pub(crate) attach: bool,
    /// Show the client on standard input and output only what this profile has.
    ///
    /// Over HTTP a client chooses a profile by its address: `/p/NAME/mcp`.
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub(crate) profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Service {
    /// Write the unit, and start it now and at every login.
    #[command(after_help = examples::SERVICE)]
    Install {
        /// Only print the unit.
        #[arg(long)]
        print: bool,
    },
    /// Say whether it is installed, and whether it runs.
    #[command(after_help = examples::SERVICE)]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop it, and take its unit away.
    #[command(after_help = examples::SERVICE)]
    Remove,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List the tools.
    #[command(after_help = examples::TOOLS_LIST)]
    List {
        /// Show every tool with its description and hints.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a tool does and what it takes.
    #[command(after_help = examples::TOOLS_SHOW)]
    Show {
        /// The tool's name.
        tool: String,
        /// Print its definition as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Call a tool and print its answer.
    ///
    /// Arguments are `key=value` pairs, or one JSON object. A value that is JSON counts as such, unless the tool takes
    /// only text there. It ends with 0 if the tool did its work, and with 1 if it says that it failed.
    #[command(after_help = examples::TOOLS_CALL)]
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

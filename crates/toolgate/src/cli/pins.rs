//! `toolgate pins`, as it is typed.

use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Pins {
    /// List the pinned tools of other servers, those that are held first.
    #[command(after_help = examples::PINS)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what changed about a tool, and how much it matters.
    #[command(after_help = examples::PINS)]
    Show {
        /// The server.
        source: String,
        /// The tool's name.
        tool: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Accept a definition as it is now, so that the tool is used again.
    #[command(after_help = examples::PINS)]
    Accept {
        /// The server.
        source: String,
        /// The tool's name; without it all of the server's.
        tool: Option<String>,
        /// Accept it only if its definition still has this digest, as `show` names it: what was looked at, and nothing
        /// newer.
        #[arg(long, requires = "tool")]
        digest: Option<String>,
    },
}

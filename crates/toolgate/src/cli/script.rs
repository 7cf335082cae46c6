//! `toolgate script`, as it is typed.

use clap::{Args, Subcommand};
use toolgate_script::Hash;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Script {
    /// List the scripts and the code that waits, with how each stands.
    #[command(after_help = examples::SCRIPT)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a script: how it stands, what it wants to reach, and its text.
    #[command(after_help = examples::SCRIPT)]
    Show {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run an approved script, as the person at this machine.
    ///
    /// Arguments are `key=value` pairs, where a value that is JSON counts as such, or one JSON object.
    #[command(after_help = examples::SCRIPT)]
    Run(RunScript),
    /// Approve a script exactly as it is now, with the secrets, tools and hosts that its header names.
    ///
    /// It shows the script and asks. A script that changes later has to be approved again.
    #[command(after_help = examples::SCRIPT)]
    Approve {
        /// Its name.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Approve it only if it still has this hash.
        #[arg(long, value_name = "HASH")]
        hash: Option<Hash>,
    },
    /// Say no to a script exactly as it is now.
    #[command(after_help = examples::SCRIPT)]
    Reject {
        /// Its name.
        name: String,
        /// Why, for whoever wants to run it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Reject it only if it still has this hash.
        #[arg(long, value_name = "HASH")]
        hash: Option<Hash>,
    },
    /// Show what has changed since a script was approved.
    #[command(after_help = examples::SCRIPT)]
    Diff {
        /// Its name.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the folder of scripts, which is made if it is missing.
    #[command(after_help = examples::SCRIPT)]
    Dir {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunScript {
    /// Its name.
    pub(crate) name: String,
    /// `key=value` pairs, or one JSON object.
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// The function to call; without it `main`, or else `result`, or else all public values.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Print the whole result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

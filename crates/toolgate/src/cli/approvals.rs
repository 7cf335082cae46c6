//! `toolgate approvals`, as it is typed.

use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List the calls that wait for a person, and those that were answered lately.
    #[command(after_help = examples::APPROVALS)]
    List {
        /// Those that were answered or used too.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one with all its arguments.
    #[command(after_help = examples::APPROVALS)]
    Show {
        /// Its id, or the beginning of it.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a call go on: this one, or all like it.
    ///
    /// The caller's next try of exactly this call runs, or runs at once if it still waits.
    #[command(after_help = examples::APPROVALS)]
    Approve {
        /// Its id, or the beginning of it.
        id: String,
        #[command(flatten)]
        lasting: Lasting,
    },
    /// Refuse a call; the caller is told why.
    #[command(after_help = examples::APPROVALS)]
    Reject {
        /// Its id, or the beginning of it.
        id: String,
        /// What the caller is told.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List the answers that hold for more than one call.
    #[command(after_help = examples::APPROVALS)]
    Remembered {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forget an answer, so that its rule asks again.
    #[command(after_help = examples::APPROVALS)]
    Forget {
        /// Its id.
        id: String,
    },
}

/// For how long a yes holds; without any of these, for this one call.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Lasting {
    /// For this target over the caller's connection.
    #[arg(long)]
    pub(crate) session: bool,
    /// For this target and caller, until it is forgotten.
    #[arg(long)]
    pub(crate) always: bool,
}

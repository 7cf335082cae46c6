//! `toolgate audit`, as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{examples, span};

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Find calls in the record, newest first.
    #[command(after_help = examples::AUDIT)]
    Search {
        #[command(flatten)]
        which: Which,
        /// At most so many.
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        limit: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print records as JSON lines, exactly as they were chained.
    #[command(after_help = examples::AUDIT)]
    Export {
        #[command(flatten)]
        which: Which,
    },
    /// Print the last record of every chain, to be kept elsewhere.
    ///
    /// Whoever can change everything here can also remove a whole chain; against what is kept elsewhere it shows.
    #[command(after_help = examples::AUDIT)]
    Heads,
    /// Check that no record was changed, removed or put in.
    ///
    /// It ends with 0 if all chains hold, and with 1 if one does not.
    #[command(after_help = examples::AUDIT)]
    Verify {
        /// The output of an earlier `toolgate audit heads`: all it names has to be there still.
        #[arg(long, value_name = "FILE")]
        heads: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Which records.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Those of the last time, such as `1h` or `7d`.
    #[arg(long, value_name = "TIME", value_parser = span::read)]
    pub(crate) since: Option<span::Span>,
    /// Those of this caller.
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Those for this target, such as `tool:workspace_*`.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) target: Option<String>,
    /// Those that ended so, such as `complete`, `denied` or `rateLimited`.
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
}

//! `toolgate secret`, as it is typed.

use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Keep a secret, encrypted; its value comes from standard input, or is asked for.
    ///
    /// The configuration refers to it as `{secret:NAME}`. Whatever leaves Toolgate has it replaced by
    /// `[REDACTED:NAME]`, in every encoding. A value that is there already is replaced.
    #[command(after_help = examples::SECRET)]
    Set {
        /// Its name: capital letters, digits and `_`, a letter first.
        name: String,
    },
    /// List the names of all secrets, and when each was set.
    #[command(after_help = examples::SECRET)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a secret; it is not hidden any more.
    #[command(after_help = examples::SECRET)]
    Remove {
        /// Its name.
        name: String,
    },
}

//! `toolgate policy`, as it is typed.

use std::path::PathBuf;

use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say which rule decides on a call, and why; nothing is called.
    ///
    /// It ends with 0 if the call would run, and with 1 if it would be refused or had to be approved.
    #[command(after_help = examples::POLICY)]
    Explain {
        /// Who calls; `local` is whoever uses this machine.
        principal: String,
        /// What is called: a tool's name, or `resource:URI`, `prompt:NAME` and so on.
        target: String,
        /// `key=value` pairs, or one JSON object.
        #[arg(value_name = "ARGUMENT")]
        arguments: Vec<String>,
        /// A role that the caller's token brings along; may be given several times.
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        /// The profile that the caller came in by.
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check the policy against a file of expectations.
    ///
    /// It ends with 0 if all hold, and with 1 if one does not.
    #[command(after_help = examples::POLICY)]
    Test {
        /// The file, in which each `[[expect]]` names a call and what becomes of it.
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

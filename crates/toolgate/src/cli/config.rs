//! `toolgate config`, as it is typed.

use std::path::PathBuf;

use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every value in force, and where it comes from.
    ///
    /// A value comes from a flag, else from a variable, else from `toolgate.toml`, else from OpenCode's
    /// `opencode.json`, else it is the default. Secrets are hidden.
    #[command(after_help = examples::CONFIG_SHOW)]
    Show {
        /// Only this key, or the keys of this table.
        key: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a file in which every key stands as a comment, with its default.
    #[command(after_help = examples::CONFIG_INIT)]
    Init {
        /// Where to write it, instead of `toolgate.toml` in the working folder.
        path: Option<PathBuf>,
        /// Overwrite a file that is there; it is kept with `.bak` after its name.
        #[arg(long)]
        force: bool,
    },
    /// Say what is wrong with the configuration, by line and column.
    ///
    /// It ends with 0 if nothing is wrong, and with 2 if something is.
    #[command(after_help = examples::CONFIG_CHECK)]
    Check {
        /// Check this file alone, instead of all that is configured.
        file: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Set a key in the configuration file.
    ///
    /// The file is the one of the working folder, else the user's, which is made if it is missing. Comments stay, and
    /// nothing is written that would be wrong.
    #[command(after_help = examples::CONFIG_SET)]
    Set {
        /// The key, such as `http.port`.
        key: String,
        /// The value: text, or a value of TOML; the items of a list stand between commas.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from the configuration file, so that its default holds again.
    #[command(after_help = examples::CONFIG_UNSET)]
    Unset {
        /// The key, such as `http.port`.
        key: String,
    },
    /// Print the JSON Schema of the configuration file, for editors.
    #[command(after_help = examples::CONFIG_SCHEMA)]
    Schema,
}

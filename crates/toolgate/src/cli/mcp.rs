//! `toolgate mcp`, as it is typed.

mod examples;

pub(super) use examples::MCP;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgate_clients::Client;

use super::setup::{clients, url};

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// List the servers, and how each stands.
    ///
    /// It asks the running hub. Where none runs it says what is configured, and starts nothing.
    #[command(after_help = examples::LIST, visible_alias = "ls")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Add a server: one that is known by a short name, a program, or an address.
    ///
    /// It writes a table to `toolgate.toml`, and leaves every other byte as it is. A hub that runs starts the server
    /// at once, and its clients see the tools.
    #[command(after_help = examples::ADD)]
    Add(Box<Add>),
    /// List the servers that can be added by a short name.
    #[command(after_help = examples::KNOWN)]
    Known {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a server: its table, and what is remembered of it.
    #[command(after_help = examples::REMOVE, visible_alias = "rm")]
    Remove(Named),
    /// Connect to a server, list what it has, and say how that went and what is wrong with it.
    ///
    /// It ends with 0 if the server answers, with 1 if it does not, and with 2 if it is not configured.
    #[command(after_help = examples::TEST)]
    Test(Named),
    /// Say in detail how the servers stand.
    ///
    /// It asks the running hub; where none runs, it connects to each server. It ends with 1 if one of them cannot be
    /// used.
    #[command(after_help = examples::STATUS)]
    Status {
        /// The server; without it, all of them.
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Have the running hub read its configuration anew.
    #[command(after_help = examples::RELOAD)]
    Reload {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Switch a server on.
    ///
    /// That is kept beside the configuration, which stays as it is.
    #[command(after_help = examples::SWITCH)]
    Enable(Named),
    /// Switch a server off; it stays configured.
    ///
    /// That is kept beside the configuration, which stays as it is.
    #[command(after_help = examples::SWITCH)]
    Disable(Named),
    /// Have the running hub connect to a server anew.
    #[command(after_help = examples::RESTART)]
    Restart(Named),
    /// Sign in to a server.
    ///
    /// It opens your browser, where you sign in and agree; a hub that runs then connects by itself. On a machine
    /// without a browser, open the address elsewhere, and paste the address at which that browser ends.
    #[command(after_help = examples::AUTH)]
    Auth(Auth),
    /// Sign out of a server: its tokens are given back, and forgotten.
    #[command(after_help = examples::LOGOUT)]
    Logout(Logout),
    /// Print the end of what a server's program wrote to standard error.
    #[command(after_help = examples::LOGS)]
    Logs {
        /// The server.
        name: String,
        /// Go on as it writes more.
        #[arg(long, short)]
        follow: bool,
        /// Print JSON.
        #[arg(long, conflicts_with = "follow")]
        json: bool,
    },
    /// Import the servers that your AI clients use already.
    ///
    /// It shows what would change as a diff; `--write` makes the change. What looks like a secret is never shown;
    /// `--secrets` keeps it encrypted, and the configuration refers to it.
    #[command(after_help = examples::IMPORT)]
    Import(Import),
}

/// A command about one server.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The server.
    pub(crate) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Auth {
    /// The server.
    pub(crate) name: String,
    /// Open no browser; print the address instead.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The principal who signs in, where each does so for itself.
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server.
    pub(crate) name: String,
    /// The principal who signs out, where each does so for itself.
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What to call it; tools are named after it. A known name needs nothing else, or only what it works on.
    pub(crate) name: String,
    /// What a known server works on, such as folders.
    #[arg(value_name = "VALUE", conflicts_with_all = ["command", "url", "line"])]
    pub(crate) values: Vec<String>,
    /// The program to start, and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["command", "args", "url"])]
    pub(crate) line: Vec<String>,
    /// The known server that this is, if it is to be called otherwise.
    #[arg(long, value_name = "KNOWN", conflicts_with_all = ["command", "url", "line"])]
    pub(crate) known: Option<String>,
    /// The program to start.
    #[arg(long, conflicts_with = "url")]
    pub(crate) command: Option<String>,
    /// Its arguments; where one begins with `-`, write all after `--`.
    #[arg(long, value_name = "ARGUMENT", num_args = 1.., requires = "command")]
    pub(crate) args: Vec<String>,
    /// The address of a server that runs elsewhere.
    #[arg(long, value_parser = url)]
    pub(crate) url: Option<String>,
    /// Sign in to it with OAuth.
    #[arg(long, requires = "url")]
    pub(crate) oauth: bool,
    /// A variable for the program.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "url")]
    pub(crate) variables: Vec<(String, String)>,
    /// A header for every request to the address.
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header, requires = "url")]
    pub(crate) headers: Vec<(String, String)>,
    /// The folder to start the program in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<PathBuf>,
    /// How many milliseconds an answer may take.
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<u64>,
    /// How many milliseconds it may take until it is ready.
    #[arg(long, value_name = "MS")]
    pub(crate) startup_timeout: Option<u64>,
    /// Replace a server of the same name.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The client; without it, all of them.
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub(crate) client: Option<Client>,
    /// Make the change.
    #[arg(long)]
    pub(crate) write: bool,
    /// Import only this server; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Keep what looks like a secret encrypted, and refer to it.
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Take what is imported out of the clients' files, so that they have it from Toolgate alone.
    #[arg(long)]
    pub(crate) remove_from_client: bool,
    /// Take back the last import: clients' files as they were, and our file without what was imported.
    #[arg(long, conflicts_with_all = ["client", "write", "only", "secrets", "remove_from_client"])]
    pub(crate) undo: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as `NAME=VALUE`".into()),
    }
}

/// As others write it too: `Name: value`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let at = text.find(['=', ':']).filter(|at| *at > 0).ok_or("write it as `NAME=VALUE`")?;
    let (name, value) = text.split_at(at);
    Ok((name.trim().to_owned(), value[1..].trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_headers_are_read() {
        let both = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(pair("A=b=c"), both("A", "b=c"));
        assert_eq!(pair("A="), both("A", ""));
        assert!(pair("=b").is_err() && pair("A").is_err());
        assert_eq!(header("X-Key=a:b"), both("X-Key", "a:b"));
        assert_eq!(header("Authorization: Bearer a=b"), both("Authorization", "Bearer a=b"));
        assert!(header("X").is_err() && header(": x").is_err());
    }
}

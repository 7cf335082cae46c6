//! `toolgate setup`, as it is typed.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use toolgate_clients::{Client, UnknownClient};

/// The name of the entry where nobody wants another.
pub(crate) const NAME: &str = "toolgate";

/// The longest name that clients take.
const LONGEST: usize = 64;

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The client; without it, show all of them.
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub(crate) client: Option<Client>,
    /// Make the change.
    #[arg(long, requires = "client")]
    pub(crate) write: bool,
    /// Take it back: the file as it was, or, if it has changed since, without our entry.
    #[arg(long, requires = "client", conflicts_with_all = ["write", "http", "lean", "profile"])]
    pub(crate) undo: bool,
    /// Let the client connect to a Toolgate that runs at this address, instead of starting one.
    #[arg(long, value_name = "URL", value_parser = url, conflicts_with_all = ["lean", "workspace"])]
    pub(crate) http: Option<String>,
    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = NAME, value_parser = name)]
    pub(crate) name: String,
    /// Switch on few packs only, and show what each costs in tokens.
    #[arg(long, requires = "client")]
    pub(crate) lean: bool,
    /// Show the client only what this profile of `toolgate.toml` has.
    #[arg(long, value_name = "NAME", requires = "client", conflicts_with = "http")]
    pub(crate) profile: Option<String>,
    /// Use the file in the working folder, which all who work there share.
    #[arg(long)]
    pub(crate) project: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn clients() -> impl clap::builder::TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::id)).try_map(|id| id.parse::<Client>().map_err(unknown))
}

fn unknown(error: UnknownClient) -> String {
    error.to_string()
}

/// Letters, digits, `-` and `_`: what all clients take.
fn name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if !text.is_empty() && text.len() <= LONGEST && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(format!("a name has 1 to {LONGEST} letters, digits, `-` or `_`"))
}

pub(super) fn url(text: &str) -> Result<String, String> {
    let rest = ["http://", "https://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.is_empty() || text.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err("write an address such as `http://127.0.0.1:3000/mcp`".into());
    }
    Ok(text.to_owned())
}

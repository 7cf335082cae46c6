//! Servers that clients use already, told in the form of `[mcp.NAME]`.

mod entry;
mod literal;
mod name;
mod place;
mod refer;
mod settle;
mod withdraw;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::client::Client;
use crate::folders::Folders;
use crate::problem::Problem;
use crate::server::Entry;

pub use literal::{Literal, looks_secret};
pub use name::server_name;
pub use withdraw::{Withdrawal, put_back, withdraw};

/// Where to look, and what to make of what is found.
pub struct Look<'a> {
    /// Where clients keep their files.
    pub folders: &'a Folders,
    /// The project whose files count too.
    pub project: &'a Path,
    /// The variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether an entry leads to whoever imports: that one is left where it is.
    pub is_own: &'a dyn Fn(&Entry) -> bool,
}

/// A place that an entry was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose file it is.
    pub client: Client,
    /// The file.
    pub file: PathBuf,
    /// The keys that lead to the list of servers in it.
    pub container: Vec<String>,
    /// What the entry is called there.
    pub name: String,
}

/// A server that one or more clients use.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called here: unlike any other that was found.
    pub name: String,
    /// Where it was found; the same server in two files is found once.
    pub origins: Vec<Origin>,
    /// The table `[mcp.NAME]`, in which texts that look like secrets are references to [`Found::secrets`].
    pub table: Map<String, Value>,
    /// What looks like a secret.
    pub secrets: Vec<Literal>,
    /// Secrets that the table refers to and that no file holds, each with what it is.
    pub missing: Vec<(String, String)>,
    /// What its owner should know: lowercase fragments.
    pub notes: Vec<String>,
}

impl Found {
    /// The table with every secret written out.
    #[must_use]
    pub fn plain(&self) -> Map<String, Value> {
        self.with(Literal::expose)
    }

    /// The table with a sign in the place of every secret, for people to see.
    #[must_use]
    pub fn masked(&self) -> Map<String, Value> {
        self.with(|_| "…")
    }

    fn with<'a>(&'a self, text: impl Fn(&'a Literal) -> &'a str) -> Map<String, Value> {
        let mut table = self.table.clone();
        for secret in &self.secrets {
            refer::replace(&mut table, &secret.reference(), text(secret));
        }
        table
    }

    /// Calls one of its secrets otherwise.
    pub fn rename_secret(&mut self, old: &str, new: &str) {
        refer::replace(&mut self.table, &literal::reference(old), &literal::reference(new));
        for secret in self.secrets.iter_mut().filter(|secret| secret.name == old) {
            secret.name = new.to_owned();
        }
    }
}

/// An entry that is no server that could be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is.
    pub origin: Origin,
    /// Why: a lowercase fragment.
    pub why: String,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The servers, in the order of the clients.
    pub found: Vec<Found>,
    /// Entries that are none.
    pub skipped: Vec<Skipped>,
    /// Files that cannot be read.
    pub problems: Vec<Problem>,
}

/// Reads the files of these clients.
#[must_use]
pub fn look(look: &Look<'_>, clients: &[Client]) -> Findings {
    let mut findings = Findings::default();
    for client in clients {
        for (file, base) in place::files(*client, look) {
            match place::read(*client, &file, base) {
                Ok(lists) => lists.into_iter().for_each(|list| findings.take(list, look)),
                Err(problem) => findings.problems.push(problem),
            }
        }
    }
    findings.found = settle::all(std::mem::take(&mut findings.found));
    findings
}

impl Findings {
    fn take(&mut self, list: place::List, look: &Look<'_>) {
        let place::List { client, file, container, base, entries, inputs } = list;
        for read in entries {
            let name = read.name.clone();
            let origin = Origin { client, file: file.clone(), container: container.clone(), name };
            if (look.is_own)(&read) {
                self.skipped.push(Skipped { origin, why: "leads to Toolgate itself".into() });
                continue;
            }
            let scene = entry::Scene { look, base: base.as_deref(), inputs: &inputs };
            match entry::found(&read, origin.clone(), &scene) {
                Some(found) => self.found.push(found),
                None => {
                    let why = "says neither how to start a server nor where one is".into();
                    self.skipped.push(Skipped { origin, why });
                }
            }
        }
    }
}

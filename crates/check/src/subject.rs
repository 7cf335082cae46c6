//! What is checked: a program that is started, or a server at an address.

use std::ffi::OsString;
use std::path::PathBuf;

use toolgate_host::process::Sandbox;
use url::{Host, Url};

/// What is checked. It cannot be printed: it may hold secrets.
pub enum Subject {
    /// A program that speaks on its standard streams.
    Program(Program),
    /// A server that is reached by HTTP.
    Address(Address),
}

/// A program that speaks on its standard streams.
pub struct Program {
    /// Where it lies.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// All the variables that it sees.
    pub variables: Vec<(OsString, OsString)>,
    /// The folder it is started in; without one, ours.
    pub folder: Option<PathBuf>,
    /// What it may touch; without one, anything.
    pub sandbox: Option<Sandbox>,
}

/// A server that is reached by HTTP.
pub struct Address {
    /// Where.
    pub url: Url,
    /// Headers for every request.
    pub headers: Vec<(String, String)>,
    /// A file with authorities that are trusted beside those of the machine.
    pub ca_file: Option<PathBuf>,
    /// How it is reached.
    pub proxy: Proxy,
}

/// Through which proxy a server is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The one that the environment names, if any; none for a server on this machine.
    #[default]
    Environment,
    /// None.
    Off,
    /// This one.
    At(String),
}

impl Address {
    /// An address without anything else.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self { url, headers: Vec::new(), ca_file: None, proxy: Proxy::default() }
    }

    /// Whether the server is on this machine, reached over loopback.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

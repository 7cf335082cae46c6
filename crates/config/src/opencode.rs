//! What OpenCode's own file says that concerns us too; all else in it is OpenCode's business.
//!
//! | in `opencode.json` | here |
//! |---|---|
//! | `server.hostname`, `server.port` | `opencode.server_url`: where `opencode serve` listens, if that is on this machine |
//! | `logLevel` | `log.level` |
//! | `experimental.mcp_timeout` | `experimental.mcp_timeout` |
//!
//! Nothing in there is ever an error: what cannot be read is passed over with a warning. A project brings the file along,
//! so it does not choose another machine that is sent prompts and a password.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::error::Problem;
use crate::excerpt::Lines;
use crate::file;
use crate::node::{Table, lay_over, single};
use crate::origin::{Origin, Place};

/// What OpenCode's file is called, with comments or without.
const FILE_NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// Where `opencode serve` listens if nobody says otherwise.
const HOSTNAME: &str = "127.0.0.1";
const PORT: u16 = 4096;

/// Why a host does not count.
const ELSEWHERE: &str = "`server.hostname` is not this machine; to use a server elsewhere, set `opencode.server_url` in \
                         `toolgate.toml`";

const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];

/// Every place of OpenCode's file in these folders, the first first.
pub(crate) fn places(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().flat_map(|folder| FILE_NAMES.map(|name| folder.join(name))).collect()
}

/// The first of these files that is there.
pub(crate) fn find(places: &[PathBuf]) -> Option<PathBuf> {
    places.iter().find(|path| fs::metadata(path).is_ok()).cloned()
}

/// What a file sets, and what is odd about it; `asked` is the origin of its name, if it was named.
pub(crate) fn read(path: &Path, asked: Option<&Origin>) -> (Table, Vec<Problem>) {
    let text = match file::read(path, asked) {
        Ok(text) => text,
        Err(problem) => return (Table::new(), vec![problem.passed_over()]),
    };
    let mut reader =
        Reader { path: path.into(), lines: Lines::new(&text), found: Table::new(), odd: Vec::new() };
    match parse_to_ast(&text, &CollectOptions::default(), &ParseOptions::default()) {
        Ok(parsed) => reader.root(parsed.value.as_ref()),
        Err(error) => {
            let message = error.kind().to_string();
            let origin = reader.origin(error.range().start);
            reader.odd.push(Problem::new(origin, uncapitalised(&message)).passed_over());
        }
    }
    (reader.found, reader.odd)
}

struct Reader<'a> {
    path: Arc<Path>,
    lines: Lines<'a>,
    found: Table,
    odd: Vec<Problem>,
}

impl Reader<'_> {
    fn root(&mut self, root: Option<&Value<'_>>) {
        let Some(Value::Object(root)) = root else {
            if let Some(value) = root {
                self.refuse(value, "expected an object");
            }
            return;
        };
        self.log_level(root);
        if let Some(server) = root.get_object("server") {
            self.server_url(server);
        }
        if let Some(experimental) = root.get_object("experimental") {
            self.timeout(experimental);
        }
    }

    fn log_level(&mut self, root: &Object<'_>) {
        let Some(property) = root.get("logLevel") else { return };
        let word = property.value.as_string_lit().map(|text| text.value.to_ascii_lowercase());
        match word.filter(|word| LEVELS.contains(&word.as_str())) {
            Some(word) => self.set("log.level", word, &property.value),
            None => self.refuse(&property.value, "`logLevel` must be `DEBUG`, `INFO`, `WARN` or `ERROR`"),
        }
    }

    fn server_url(&mut self, server: &Object<'_>) {
        let (hostname, port) = (server.get("hostname"), server.get("port"));
        let Some(at) = port.or(hostname).map(|property| &property.value) else { return };
        let host = match hostname.map(|property| (reachable(&property.value), property)) {
            None => HOSTNAME.to_owned(),
            Some((Some(host), property)) if !is_here(&host) => {
                return self.refuse(&property.value, ELSEWHERE);
            }
            Some((Some(host), _)) => host,
            Some((None, property)) => {
                return self.refuse(&property.value, "`server.hostname` must be the name of a host");
            }
        };
        let number = match port.map(|property| property.value.as_number_lit()) {
            None => Some(PORT),
            Some(literal) => literal.and_then(|literal| literal.value.parse().ok()).filter(|port| *port > 0),
        };
        match number {
            Some(port) => self.set("opencode.server_url", format!("http://{host}:{port}"), at),
            None => self.refuse(at, "`server.port` must be an integer from 1 to 65535"),
        }
    }

    fn timeout(&mut self, experimental: &Object<'_>) {
        let Some(property) = experimental.get("mcp_timeout") else { return };
        let number = property.value.as_number_lit().and_then(|literal| literal.value.parse::<u64>().ok());
        match number.filter(|number| *number > 0) {
            Some(number) => self.set("experimental.mcp_timeout", number, &property.value),
            None => self.refuse(&property.value, "`experimental.mcp_timeout` must be an integer, 1 or more"),
        }
    }

    fn set(&mut self, key: &str, value: impl Into<serde_json::Value>, at: &Value<'_>) {
        let origin = self.origin(at.range().start);
        lay_over(&mut self.found, single(key, value.into(), &origin));
    }

    fn refuse(&mut self, at: &Value<'_>, message: &str) {
        self.odd.push(Problem::new(self.origin(at.range().start), message).passed_over());
    }

    fn origin(&self, offset: usize) -> Origin {
        let (line, column) = self.lines.position(offset);
        Origin::OpenCode(Place { path: Arc::clone(&self.path), line, column })
    }
}

/// The host to connect to, for the one that a server listens on; `{env:…}` and the like are none.
fn reachable(value: &Value<'_>) -> Option<String> {
    let host = value.as_string_lit()?.value.trim_matches(['[', ']']).to_owned();
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-:".contains(letter);
    match host.as_str() {
        "" => None,
        "0.0.0.0" => Some(HOSTNAME.to_owned()),
        "::" => Some("[::1]".to_owned()),
        name if !name.chars().all(is_host) => None,
        name if name.contains(':') => Some(format!("[{name}]")),
        _ => Some(host),
    }
}

/// Whether a host, as in an address, is this machine.
fn is_here(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn uncapitalised(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

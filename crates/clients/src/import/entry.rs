//! An entry of any client as a table `[mcp.NAME]`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::literal::{self, Literal};
use super::name::{secret_name, server_name};
use super::refer::{self, Manner};
use super::{Found, Look, Origin};
use crate::server::{Entry, Local, Remote, Server};

/// What surrounds an entry.
pub(super) struct Scene<'a> {
    pub(super) look: &'a Look<'a>,
    /// The folder that the client starts the server in, where it is always the same.
    pub(super) base: Option<&'a Path>,
    pub(super) inputs: &'a [Value],
}

/// Keys that say something which a table of ours has another place for, or none.
const ELSEWHERE: [(&str, &str); 5] = [
    ("envFile", "`envFile` is not read; put its variables into `env`, or into secrets"),
    ("alwaysAllow", "`alwaysAllow` is not carried over; rules are in `[policy]`"),
    ("autoApprove", "`autoApprove` is not carried over; rules are in `[policy]`"),
    ("headersHelper", "`headersHelper` is not carried over; write `headers`"),
    ("sandboxEnabled", "the client's sandbox is not carried over; see `sandbox`"),
];

/// The server of an entry, if it says what one is.
pub(super) fn found(entry: &Entry, origin: Origin, scene: &Scene<'_>) -> Option<Found> {
    let server = entry.server.clone()?;
    let name = server_name(&entry.name);
    let mut writer = Writer::new(&name, scene);
    if name != entry.name {
        writer.notes.push(format!("called `{}` there", entry.name.escape_debug()));
    }
    match unwrapped(&server) {
        Some(remote) => {
            writer.notes.push("`mcp-remote` is left out: Toolgate connects to the address itself".into());
            writer.remote(&remote, &entry.written);
        }
        None => match &server {
            Server::Local(local) => writer.local(local, &entry.written),
            Server::Remote(remote) => writer.remote(remote, &entry.written),
        },
    }
    writer.common(entry);
    let Writer { table, secrets, missing, mut notes, .. } = writer;
    let told = ELSEWHERE.iter().filter(|(key, _)| entry.written.get(key).is_some());
    notes.extend(told.map(|(_, note)| (*note).to_owned()));
    notes.dedup();
    Some(Found { name, origins: vec![origin], table, secrets, missing, notes })
}

/// A server elsewhere that a client reaches by way of `npx mcp-remote URL`.
fn unwrapped(server: &Server) -> Option<Remote> {
    let Server::Local(Local { command, args, env }) = server else { return None };
    let runs = ["npx", "bunx", "pnpx"].contains(&program(command)) && env.is_empty();
    let mut args = args.iter().map(String::as_str).filter(|arg| !matches!(*arg, "-y" | "--yes"));
    let is_bridge = |package: &str| package == "mcp-remote" || package.starts_with("mcp-remote@");
    if !runs || !args.next().is_some_and(is_bridge) {
        return None;
    }
    let mut remote = Remote::http(args.next().filter(|url| url.contains("://"))?);
    while let Some(flag) = args.next() {
        // Any other option changes what is sent; such an entry stays as it is.
        let (name, value) = (flag == "--header").then(|| args.next()).flatten()?.split_once(':')?;
        remote.headers.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Some(remote)
}

fn program(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name)
}

/// Writes a table.
struct Writer<'a> {
    server: &'a str,
    scene: &'a Scene<'a>,
    table: Map<String, Value>,
    secrets: Vec<Literal>,
    missing: Vec<(String, String)>,
    notes: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(server: &'a str, scene: &'a Scene<'a>) -> Self {
        Self { server, scene, table: Map::new(), secrets: vec![], missing: vec![], notes: vec![] }
    }

    fn local(&mut self, local: &Local, written: &Value) {
        let Local { command, args, env } = local;
        let command = self.read(command, Manner::Fill);
        // What a shell is given to run is the shell's to read.
        let is_shell = ["sh", "bash", "zsh", "dash", "fish"].contains(&program(&command));
        self.table.insert("command".into(), command.into());
        let mut list = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let arg = if is_shell { arg.clone() } else { self.read(arg, Manner::Refer) };
            let flag = at.checked_sub(1).and_then(|before| args.get(before)).map_or("", String::as_str);
            list.push(self.argument(at, flag, &arg));
        }
        if !list.is_empty() {
            self.table.insert("args".into(), json!(list));
        }
        let mut variables = self.texts("env", env, |_, key| secret_name(&[key]));
        for name in written["env_vars"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            variables.insert(name.to_owned(), self.read(&format!("${{env:{name}}}"), Manner::Refer).into());
        }
        self.put("env", variables);
        let cwd = written["cwd"].as_str().map(|cwd| self.read(cwd, Manner::Fill));
        let base = self.scene.base.map(|base| base.to_string_lossy().into_owned());
        if let Some(cwd) = cwd.or(base) {
            self.table.insert("cwd".into(), cwd.into());
        }
    }

    fn remote(&mut self, remote: &Remote, written: &Value) {
        let url = self.read(&remote.url, Manner::Refer);
        let url = self.address(&url);
        self.table.insert("url".into(), url.into());
        let mut headers = remote.headers.clone();
        for (name, variable) in written["env_http_headers"].as_object().into_iter().flatten() {
            headers.insert(name.clone(), format!("${{env:{}}}", variable.as_str().unwrap_or_default()));
        }
        if let Some(variable) = written["bearer_token_env_var"].as_str() {
            headers.insert("Authorization".into(), format!("Bearer ${{env:{variable}}}"));
        }
        let headers = self.texts("headers", &headers, |server, key| {
            let is_token = key.eq_ignore_ascii_case("authorization");
            secret_name(&[server, if is_token { "token" } else { key }])
        });
        self.put("headers", headers);
        if let Some(oauth) = self.oauth(written) {
            self.table.insert("oauth".into(), oauth);
        }
    }

    /// How to log in, in whatever words the client has for it.
    fn oauth(&mut self, written: &Value) -> Option<Value> {
        let given = ["oauth", "auth"].into_iter().find_map(|key| written.get(key))?;
        let given = match given {
            Value::Bool(_) => return Some(given.clone()),
            Value::Object(given) => given,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return None,
        };
        let mut table = Map::new();
        for (key, value) in given {
            let Some(ours) = oauth_key(key) else {
                self.notes.push(format!("`{key}` of `oauth` is not carried over"));
                continue;
            };
            let text = match value {
                Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
                Value::String(text) => self.read(text, Manner::Refer),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                    table.insert(ours.to_owned(), value.clone());
                    continue;
                }
            };
            let name = secret_name(&[self.server, ours]);
            table.insert(ours.to_owned(), self.hidden(ours, &text, name, format!("oauth.{ours}")).into());
        }
        Some(if table.is_empty() { Value::Bool(true) } else { Value::Object(table) })
    }

    /// What an entry of either kind says.
    fn common(&mut self, entry: &Entry) {
        let written = &entry.written;
        let millis = |key: &str| written[key].as_u64();
        let seconds = |key: &str| written[key].as_f64().map(|seconds| (seconds * 1000.0).round());
        let seconds = |key: &str| seconds(key).filter(|ms| *ms > 0.0).map(|ms| json!(ms as u64));
        let timeout = seconds("tool_timeout_sec").or_else(|| millis("timeout").map(Value::from));
        let startup =
            seconds("startup_timeout_sec").or_else(|| millis("startup_timeout_ms").map(Value::from));
        self.table.extend(timeout.map(|ms| ("timeout".to_owned(), ms)));
        let startup = startup.or_else(|| millis("startup_timeout").map(Value::from));
        self.table.extend(startup.map(|ms| ("startup_timeout".to_owned(), ms)));
        if !entry.enabled {
            self.table.insert("enabled".into(), false.into());
        }
        let mut tools = Map::new();
        let lists = [("enabled_tools", "allow"), ("disabled_tools", "deny"), ("disabledTools", "deny")];
        for (theirs, ours) in lists {
            let names: Vec<&str> =
                written[theirs].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if !names.is_empty() {
                tools.insert(ours.to_owned(), json!(names));
            }
        }
        self.put("tools", tools);
    }

    fn put(&mut self, key: &str, table: Map<String, Value>) {
        if !table.is_empty() {
            self.table.insert(key.to_owned(), table.into());
        }
    }

    fn read(&mut self, text: &str, manner: Manner) -> String {
        let read = refer::read(text, self.scene, manner);
        self.missing.extend(read.missing);
        self.notes.extend(read.notes);
        read.text
    }

    /// Texts by name, with a reference for each that looks like a secret.
    fn texts(
        &mut self,
        key: &str,
        texts: &BTreeMap<String, String>,
        secret: impl Fn(&str, &str) -> String,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for (name, text) in texts {
            let text = self.read(text, Manner::Refer);
            let kept = secret(self.server, name);
            out.insert(name.clone(), self.hidden(name, &text, kept, format!("{key}.{name}")).into());
        }
        out
    }

    /// An argument; `flag` stands before it.
    fn argument(&mut self, at: usize, flag: &str, arg: &str) -> String {
        let place = format!("args.{at}");
        if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| name.starts_with('-')) {
            let kept = secret_name(&[self.server, name.trim_start_matches('-')]);
            return format!("{name}={}", self.hidden(name, value, kept, place));
        }
        if let Some((name, value)) = arg.split_once(": ").filter(|_| matches!(flag, "--header" | "-H")) {
            let kept = secret_name(&[self.server, name]);
            return format!("{name}: {}", self.hidden(name, value, kept, place));
        }
        let flag = if flag.starts_with('-') && !flag.contains('=') { flag } else { "" };
        let named = literal::is_telling(flag);
        let name = if named { flag.trim_start_matches('-') } else { "argument" };
        let kept = secret_name(&[self.server, name]);
        self.hidden(if named { flag } else { "" }, arg, kept, place)
    }

    /// An address whose parameters may be secret.
    fn address(&mut self, url: &str) -> String {
        let kept = secret_name(&[self.server, "url"]);
        let Some((before, query)) = url.split_once('?') else {
            return self.hidden("", url, kept, "url".into());
        };
        let mut pairs = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let kept = secret_name(&[self.server, name]);
            let value = self.hidden(name, value, kept, format!("url ({name})"));
            pairs.push(if pair.contains('=') { format!("{name}={value}") } else { pair.to_owned() });
        }
        format!("{}?{}", self.hidden("", before, kept, "url".into()), pairs.join("&"))
    }

    /// A text with a reference in it if it looks like a secret.
    fn hidden(&mut self, name: &str, text: &str, kept: String, at: String) -> String {
        let Some((before, value)) = literal::part(name, text) else { return text.to_owned() };
        let mut literal = Literal::new(kept, at, value);
        let taken = |name: &str| self.secrets.iter().any(|other| other.name == name);
        let mut count = 2;
        let first = literal.name.clone();
        while taken(&literal.name) {
            literal.name = format!("{first}_{count}");
            count += 1;
        }
        let text = format!("{before}{}", literal.reference());
        self.secrets.push(literal);
        text
    }
}

fn oauth_key(key: &str) -> Option<&'static str> {
    Some(match key {
        "clientId" | "client_id" | "CLIENT_ID" => "client_id",
        "clientSecret" | "client_secret" | "CLIENT_SECRET" => "client_secret",
        "scope" | "scopes" => "scope",
        "callbackPort" | "callback_port" => "callback_port",
        "auth_url" | "authUrl" | "authorizationUrl" => "auth_url",
        "token_url" | "tokenUrl" => "token_url",
        _ => return None,
    })
}

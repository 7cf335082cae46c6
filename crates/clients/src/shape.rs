//! How each client writes an entry, and how any of them is read.

mod read;

pub(crate) use read::entry;

use serde_json::{Map, Value, json};

use crate::server::{Local, Remote, Server, Transport};

/// The keys by which a client's entry says how to reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command`, `args`, `env`; nothing for a server that runs elsewhere.
    LocalOnly,
    /// `command`, `args`, `env`; or `url`.
    Plain,
    /// As the plain one, after a `type`: `stdio`, `http` or `sse`.
    Typed,
    /// As the plain one, but `serverUrl`.
    ServerUrl,
    /// `type: local` with one list for program and arguments; or `type: remote`; and whether it is `enabled`.
    OpenCode,
    /// The plain one as TOML, where headers are `http_headers`.
    Codex,
}

impl Shape {
    /// The entry for a server; what another entry of that name said besides is kept. None if this client cannot say it.
    pub(crate) fn write(self, server: &Server, old: Option<&Value>) -> Option<Value> {
        let mut entry = match server {
            Server::Local(local) => self.local(local),
            Server::Remote(remote) => self.remote(remote)?,
        };
        for (key, value) in old.and_then(Value::as_object).into_iter().flatten() {
            if !self.keys().contains(&key.as_str()) {
                entry.insert(key.clone(), value.clone());
            }
        }
        Some(Value::Object(entry))
    }

    fn local(self, local: &Local) -> Map<String, Value> {
        let Local { command, args, env } = local;
        let mut entry = Map::new();
        match self {
            Self::OpenCode => {
                let line: Vec<&String> = std::iter::once(command).chain(args).collect();
                entry.insert("type".into(), "local".into());
                entry.insert("command".into(), json!(line));
                entry.insert("enabled".into(), true.into());
            }
            Self::Typed => {
                entry.insert("type".into(), "stdio".into());
                entry.insert("command".into(), json!(command));
                entry.insert("args".into(), json!(args));
            }
            Self::LocalOnly | Self::Plain | Self::ServerUrl | Self::Codex => {
                entry.insert("command".into(), json!(command));
                entry.insert("args".into(), json!(args));
            }
        }
        if !env.is_empty() {
            let key = if self == Self::OpenCode { "environment" } else { "env" };
            entry.insert(key.into(), json!(env));
        }
        entry
    }

    fn remote(self, remote: &Remote) -> Option<Map<String, Value>> {
        let Remote { url, headers, transport } = remote;
        let mut entry = Map::new();
        match self {
            Self::LocalOnly => return None,
            Self::Plain | Self::Codex => {}
            Self::Typed => {
                let word = match transport {
                    Transport::Http => "http",
                    Transport::Sse => "sse",
                };
                entry.insert("type".into(), word.into());
            }
            Self::ServerUrl => {
                entry.insert("serverUrl".into(), json!(url));
            }
            Self::OpenCode => {
                entry.insert("type".into(), "remote".into());
            }
        }
        if self != Self::ServerUrl {
            entry.insert("url".into(), json!(url));
        }
        if self == Self::OpenCode {
            entry.insert("enabled".into(), true.into());
        }
        if !headers.is_empty() {
            let key = if self == Self::Codex { "http_headers" } else { "headers" };
            entry.insert(key.into(), json!(headers));
        }
        Some(entry)
    }

    /// The keys that this shape decides; all others of an entry belong to its owner.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::LocalOnly | Self::Plain | Self::Typed => {
                &["type", "command", "args", "env", "url", "headers"]
            }
            Self::ServerUrl => &["type", "command", "args", "env", "url", "serverUrl", "headers"],
            Self::OpenCode => &["type", "command", "environment", "url", "headers", "enabled"],
            Self::Codex => &["type", "command", "args", "env", "url", "http_headers"],
        }
    }
}

//! The gateways: how each is started in front of a server.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use serde::Serialize;
use tempfile::TempDir;

use super::Plan;
use crate::request::PATH;
use crate::server::Server;

/// How many secrets Toolgate hides.
pub(crate) const SECRETS: usize = 50;

/// The rules, limits and redaction that are in force; the audit always is.
const POLICY: &str = include_str!("policy.toml");

/// How a gateway reaches the server behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Behind {
    Http,
    Stdio,
}

/// Whose a gateway is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// No gateway at all.
    Nobody,
    /// The bare forwarder.
    Floor,
    Ours,
    Peer,
}

/// A gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    /// Its name in the raw data.
    pub(crate) name: &'static str,
    /// Its name in the report.
    pub(crate) label: &'static str,
    pub(crate) whose: Whose,
    /// Whether it can reach a server over HTTP; all can start one.
    pub(crate) over_http: bool,
    /// Where it listens.
    pub(crate) path: &'static str,
}

/// Everything that is measured.
pub(crate) const GATEWAYS: &[Gateway] = &[
    gateway("direct", "none: the server itself", Whose::Nobody, true),
    gateway("forward", "bare forwarder", Whose::Floor, true),
    gateway("toolgate", "Toolgate, whole policy", Whose::Ours, true),
    Gateway { path: "/", ..gateway("mcp-proxy-rust", "`mcp-proxy` 0.4 (Rust)", Whose::Peer, true) },
    gateway("mcp-proxy-npm", "`mcp-proxy` 6.7 (npm)", Whose::Peer, false),
    gateway("supergateway", "`supergateway` 4.0 (npm)", Whose::Peer, false),
    gateway("mcp-proxy-pypi", "`mcp-proxy` 0.13 (PyPI)", Whose::Peer, false),
    gateway("fastmcp", "`fastmcp` 4.1 as a proxy (PyPI)", Whose::Peer, true),
];

const fn gateway(name: &'static str, label: &'static str, whose: Whose, over_http: bool) -> Gateway {
    Gateway { name, label, whose, over_http, path: PATH }
}

/// A gateway that runs, and the server behind it.
pub(crate) struct Started {
    pub(crate) gateway: Server,
    _data: Option<TempDir>,
    _server: Option<Server>,
}

/// The server as it is started, by gateways too.
pub(crate) fn server(plan: &Plan, behind: Behind, tools: usize) -> (PathBuf, [String; 2]) {
    let way = match behind {
        Behind::Http => "http",
        Behind::Stdio => "stdio",
    };
    (plan.servers.join("hub-echo"), [way.to_owned(), tools.to_string()])
}

impl Gateway {
    /// Starts it in front of a server with so many tools.
    pub(crate) fn start(&self, plan: &Plan, behind: Behind, tools: usize) -> Result<Started> {
        let (program, arguments) = server(plan, behind, tools);
        let backend = match behind {
            Behind::Http => {
                let mut command = Command::new(&program);
                Some(Server::listening(command.args(&arguments))?)
            }
            Behind::Stdio => None,
        };
        let words = match &backend {
            Some(backend) => vec![format!("http://{}/mcp", backend.address()?)],
            None => [program.display().to_string()].into_iter().chain(arguments).collect(),
        };
        if self.whose == Whose::Ours {
            let tables = [("up".to_owned(), words)];
            let (gateway, data) = toolgate(plan, &tables)?;
            return Ok(Started { gateway, _data: Some(data), _server: backend });
        }
        let gateway = match (self.whose, backend) {
            (Whose::Nobody, Some(backend)) => {
                return Ok(Started { gateway: backend, _data: None, _server: None });
            }
            (_, backend) => Started { gateway: self.other(plan, &words)?, _data: None, _server: backend },
        };
        Ok(gateway)
    }

    /// Starts one that is not ours.
    fn other(&self, plan: &Plan, words: &[String]) -> Result<Server> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let peers = &plan.peers;
        let node = |script: &str| {
            let mut command = Command::new(peers.join("bin/node"));
            command.arg(peers.join("node_modules").join(script));
            command
        };
        let number = port.to_string();
        let mut command = match self.name {
            "forward" => {
                let mut command = Command::new(plan.servers.join("hub-forward"));
                return Server::listening(command.args(words));
            }
            "mcp-proxy-rust" => {
                let file = plan.home.path().join("proxy.toml");
                fs::write(&file, proxy_toml(port, words))?;
                let mut command = Command::new(peers.join("bin/mcp-proxy"));
                command.arg("--config").arg(file);
                command
            }
            "mcp-proxy-npm" => {
                let mut command = node("mcp-proxy/dist/bin/mcp-proxy.mjs");
                command
                    .args(["--port", &number, "--host", "127.0.0.1", "--server", "stream", "--"])
                    .args(words);
                command
            }
            "supergateway" => {
                let mut command = node("supergateway/dist/index.js");
                command.args([
                    "--stdio",
                    &words.join(" "),
                    "--outputTransport",
                    "streamableHttp",
                    "--stateful",
                ]);
                command.args(["--port", &number, "--logLevel", "none"]);
                command
            }
            "mcp-proxy-pypi" => {
                let mut command = Command::new(peers.join(".venv/bin/mcp-proxy"));
                command.args(["--port", &number, "--log-level", "ERROR", "--"]).args(words);
                command
            }
            _ => {
                let mut command = Command::new(peers.join(".fastmcp/bin/python"));
                command.arg(peers.join("fastmcp_proxy.py")).arg(&number).args(words);
                command
            }
        };
        command.env_clear().env("HOME", plan.home.path()).env("PATH", "/usr/bin:/bin");
        command.current_dir(plan.home.path());
        Server::at(command, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }
}

/// What `mcp-proxy` is configured by: it puts its backend's name before those of the tools. Without a level it logs
/// every message.
fn proxy_toml(port: u16, words: &[String]) -> String {
    let reach = match words {
        [url] => format!("transport = \"http\"\nurl = \"{url}\""),
        [program, arguments @ ..] => {
            format!("transport = \"stdio\"\ncommand = \"{program}\"\nargs = {arguments:?}")
        }
        [] => String::new(),
    };
    format!(
        "[proxy]\nname = \"bench\"\nseparator = \"_\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
         [observability]\nlog_level = \"error\"\n[[backends]]\nname = \"test\"\n{reach}\n"
    )
}

/// Starts Toolgate in front of these servers, with its whole policy and a data folder of its own.
pub(crate) fn toolgate(plan: &Plan, servers: &[(String, Vec<String>)]) -> Result<(Server, TempDir)> {
    let data = plan.template.copy()?;
    let tables = servers.iter().map(|(name, words)| {
        let reach = match &words[..] {
            [url] => format!("url = \"{url}\""),
            [program, arguments @ ..] => format!("command = \"{program}\"\nargs = {arguments:?}"),
            [] => String::new(),
        };
        let prefix = if servers.len() == 1 { "prefix = false\n" } else { "" };
        format!("[mcp.{name}]\n{reach}\n{prefix}")
    });
    let toml = format!("packs = []\n{POLICY}\n{}", tables.collect::<String>());
    fs::write(data.path().join("toolgate.toml"), toml)?;
    let mut command = Command::new(&plan.toolgate);
    command.args(["serve", "--http", "--port", "0"]);
    in_folder(&mut command, data.path());
    Ok((Server::listening(command)?, data))
}

fn in_folder(command: &mut Command, folder: &Path) {
    command.env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin").current_dir(folder);
    command.env("TOOLGATE_DATA_DIR", folder.join("data"));
}

/// A data folder that holds the secrets.
pub(crate) struct Template(TempDir);

impl Template {
    pub(crate) fn new(toolgate: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for number in 0..SECRETS {
            let secret = folder.path().join("secret");
            fs::write(&secret, format!("correct-horse-battery-staple-{number:03}"))?;
            let mut command = Command::new(toolgate);
            command.args(["secret", "set", &format!("SECRET_{number}")]);
            in_folder(&mut command, folder.path());
            let output = command.stdin(fs::File::open(&secret)?).stdout(Stdio::null()).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(Self(folder))
    }

    fn copy(&self) -> Result<TempDir> {
        let folder = tempfile::tempdir()?;
        let from = self.0.path().join("data");
        let status = Command::new("cp").arg("-a").arg(from).arg(folder.path()).status()?;
        ensure!(status.success(), "the data folder cannot be copied");
        Ok(folder)
    }
}

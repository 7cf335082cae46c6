//! A server under measurement: started, found, and stopped.

use std::borrow::BorrowMut;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::case::{Family, Launch};
use crate::process::{self, Spent};
use crate::request::Era;

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to end, and how often it is looked at meanwhile.
const GRACE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// Where everything is.
pub(crate) struct Places {
    pub(crate) toolgate: PathBuf,
    pub(crate) servers: PathBuf,
    pub(crate) peers: PathBuf,
    /// The home and working folder of every server.
    pub(crate) home: TempDir,
    pub(crate) echoes: Echoes,
}

/// What the bare echo answers.
#[derive(Default)]
pub(crate) struct Echoes {
    legacy: String,
    modern: String,
}

impl Echoes {
    pub(crate) fn of(&mut self, era: Era) -> &mut String {
        match era {
            Era::Legacy => &mut self.legacy,
            Era::Modern => &mut self.modern,
        }
    }
}

/// A server that runs, until this is dropped.
pub(crate) struct Server {
    child: Child,
    address: Option<SocketAddr>,
}

impl Server {
    /// Starts a server and waits until it says where it listens.
    pub(crate) fn http(places: &Places, launch: Launch) -> Result<Self> {
        Self::listening(command(places, launch))
    }

    /// Starts the bare echo for calls of an era.
    pub(crate) fn echo(places: &Places, era: Era) -> Result<Self> {
        let answer = match era {
            Era::Legacy => &places.echoes.legacy,
            Era::Modern => &places.echoes.modern,
        };
        let mut command = command(places, Launch { family: Family::Axum, arguments: &[] });
        command.arg(answer);
        Self::listening(command)
    }

    /// Starts what a command says, and waits until it says where it listens.
    pub(crate) fn listening(mut command: impl BorrowMut<Command>) -> Result<Self> {
        let command = command.borrow_mut();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("no standard error")?;
        let mut server = Self { child, address: None };
        let (found, address) = mpsc::channel();
        // It reads on to the end, or a server that says much would wait for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = listens_on(&line) {
                    found.send(address).ok();
                }
            }
        });
        server.address =
            Some(address.recv_timeout(PATIENCE).with_context(|| format!("{command:?} does not listen"))?);
        Ok(server)
    }

    /// Starts a server that was told where to listen, and waits until it does.
    pub(crate) fn at(mut command: Command, address: SocketAddr) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut server = Self { child, address: Some(address) };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            ensure!(began.elapsed() < PATIENCE, "{command:?} does not listen");
            ensure!(server.child.try_wait()?.is_none(), "{command:?} ended");
            std::thread::sleep(LOOK);
        }
        Ok(server)
    }

    /// Starts a server on standard input and output.
    pub(crate) fn stdio(
        places: &Places,
        launch: Launch,
    ) -> Result<(Self, ChildStdin, BufReader<ChildStdout>)> {
        let mut command = command(places, launch);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok((Self { child, address: None }, input, output))
    }

    pub(crate) fn address(&self) -> Result<SocketAddr> {
        self.address.context("this server does not listen")
    }

    /// The processor time that it has used.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        process::cpu(self.child.id())
    }

    /// The processor time that it has used, without what programs of this name did for it.
    pub(crate) fn spent_without(&self, name: &str) -> Result<Spent> {
        Spent::of(self.child.id(), name)
    }

    /// The memory that it holds now, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        process::memory(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.ended() {
            // It may have ended by itself.
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}

impl Server {
    /// Asks it to end, and whether it did: one that counts what it does writes that down then.
    fn ended(&mut self) -> bool {
        let Ok(id) = self.child.id().try_into() else { return false };
        let began = Instant::now();
        let mut asked = kill(Pid::from_raw(id), Signal::SIGTERM).is_ok();
        while asked && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
            asked = began.elapsed() < GRACE;
        }
        asked
    }
}

fn command(places: &Places, launch: Launch) -> Command {
    let program = match launch.family {
        Family::Toolgate => places.toolgate.clone(),
        Family::Axum => places.servers.join("axum-echo"),
        Family::Rmcp => places.servers.join("rmcp-echo"),
        Family::TsV1 | Family::TsV2 => places.peers.join("bin/node"),
        Family::Python => places.peers.join(".venv/bin/python"),
    };
    let mut command = Command::new(program);
    // A script lies beside its packages; what is no script is an argument.
    let arguments = launch.arguments.iter().map(|argument| match argument.contains('.') {
        true => places.peers.join(argument).into_os_string(),
        false => argument.into(),
    });
    command.args(arguments).env_clear().env("HOME", places.home.path()).env("PATH", "/usr/bin:/bin");
    command.current_dir(places.home.path());
    command
}

fn listens_on(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("listening on http://")?;
    rest.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_what_a_server_says() {
        let line = " INFO toolgate::command::serve: listening on http://127.0.0.1:3000/mcp";
        assert_eq!(listens_on(line), Some(SocketAddr::from(([127, 0, 0, 1], 3000))));
        assert_eq!(listens_on("ready"), None);
    }
}

//! A server of our own: started with a password that nobody else knows, ended with all that it started.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::process::{Pipes, Running};
use toolgate_host::{Program, Secret};

use super::LogRing;

/// How long a server may take to listen; it is slow on a busy machine.
const READY: Duration = Duration::from_secs(90);

/// What it says on standard output once it listens, before its address.
const LISTENING: &str = "listening on ";

/// What is to be started.
pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) variables: Vec<(String, String)>,
    pub(super) folder: PathBuf,
    pub(super) password: Secret,
}

/// A server that was started and listens.
pub(crate) struct Managed {
    pub(super) running: Running,
    pub(super) pipes: Pipes,
    pub(super) address: String,
    pub(super) log: Arc<LogRing>,
}

/// A password of 32 random bytes.
pub(super) fn password() -> Result<Secret> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(Kind::Internal, "no password can be made").because(error))?;
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
}

impl Start {
    /// Starts it, and waits until it listens.
    pub(super) async fn run(&self) -> Result<Managed> {
        let shown = self.program.display().to_string();
        let failed = |words: String| Error::new(Kind::ConnectionFailed, words);
        let arguments = ["serve", "--hostname", "127.0.0.1", "--port", "0", "--print-logs"];
        let program = Program::new(&self.program).arguments(arguments);
        let own = ["OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME", "OPENCODE_SERVER_URL"];
        let passed = self.variables.iter().filter(|(name, _)| !own.contains(&name.as_str()));
        let program = passed.fold(program, |program, (name, value)| program.variable(name, value));
        let program = program.variable("OPENCODE_SERVER_PASSWORD", self.password.expose());
        let (running, mut pipes) = program.start(Some(&self.folder)).await.map_err(|error| {
            failed(format!("OpenCode (`{shown}`) cannot be started"))
                .hint("set `opencode.program` to an OpenCode that runs on this machine")
                .because(error)
        })?;
        let log = Arc::new(LogRing::new());
        let ready = listening(&mut pipes, &log);
        let address = match tokio::time::timeout(READY, ready).await {
            Ok(Some(address)) => address,
            Ok(None) => {
                let said = log.last().unwrap_or_else(|| "nothing".into());
                return Err(failed(format!(
                    "OpenCode (`{shown}`) ended before it listened; it said: {said}"
                ))
                .hint("run `opencode serve` by hand to see what is wrong"));
            }
            Err(_) => {
                let words = format!("OpenCode (`{shown}`) does not listen after {} s", READY.as_secs());
                return Err(failed(words).hint("try again, or start `opencode serve` yourself"));
            }
        };
        Ok(Managed { running, pipes, address, log })
    }
}

/// The address that it says it listens on; none if it ends before.
async fn listening(pipes: &mut Pipes, log: &LogRing) -> Option<String> {
    let mut said = BufReader::new(&mut pipes.stdout).lines();
    let mut logged = BufReader::new(&mut pipes.stderr).lines();
    loop {
        tokio::select! {
            line = said.next_line() => {
                let line = line.ok()??;
                if let Some((_, address)) = line.split_once(LISTENING) {
                    return Some(address.trim().to_owned());
                }
                log.push(&line);
            }
            Ok(Some(line)) = logged.next_line() => log.push(&line),
        }
    }
}

/// Keeps what a stream says, until it ends.
pub(super) async fn keep(stream: impl AsyncRead + Unpin, log: &LogRing) {
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        log.push(&String::from_utf8_lossy(&line));
    }
}

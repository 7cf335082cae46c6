//! Running git: with nothing of the surroundings that could make it run something else.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use toolgate_host::process::Running;
use toolgate_host::{Program, Secret};

use super::Tools;
use super::remote::Remote;
use crate::vault::config::{self, VaultGitConfig};

/// How much of each output is kept.
const KEPT: u64 = 256 * 1024;
/// How long git gets to take its lock files away when it is told to end.
const GRACE: Duration = Duration::from_secs(2);

/// Git, and what it is always told.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    program: PathBuf,
    variables: Vec<(String, String)>,
    timeout: Duration,
    /// What proves to a server on HTTP who we are.
    authorization: Option<Secret>,
}

/// Where git works.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Our folder, which git takes for the repository.
    pub(super) own: PathBuf,
    /// The folder of notes.
    pub(super) notes: PathBuf,
}

/// How git ended, and what it said.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Why git did not come to its end.
#[derive(Debug)]
pub(super) enum Unended {
    /// It took too long.
    Late,
    /// It did not start.
    NotStarted(String),
}

impl Ended {
    pub(super) fn is_good(&self) -> bool {
        self.code == Some(0)
    }
}

impl Runner {
    pub(super) fn new(
        program: PathBuf,
        tools: &Tools,
        config: &VaultGitConfig,
        token: Option<Secret>,
    ) -> Self {
        let (name, address) = config::author(&config.author).unwrap_or(("Toolgate", "toolgate@localhost"));
        let fixed = [
            ("PATH", tools.search_path.as_str()),
            // What it says is read here.
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_EDITOR", ":"),
            ("GIT_SEQUENCE_EDITOR", ":"),
            ("GIT_MERGE_AUTOEDIT", "no"),
            ("GIT_PAGER", "cat"),
            ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
            // A path is a path, whatever characters are in it.
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_AUTHOR_NAME", name),
            ("GIT_AUTHOR_EMAIL", address),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", address),
        ];
        let agent = tools.ssh_agent.iter().map(|socket| ("SSH_AUTH_SOCK", socket.as_str()));
        let variables =
            fixed.into_iter().chain(agent).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let authorization = token.map(|token| {
            let both = format!("{}:{}", config.username, token.expose());
            Secret::new(format!("Authorization: Basic {}", STANDARD.encode(both)))
        });
        Self {
            program,
            variables: variables.collect(),
            timeout: Duration::from_millis(config.timeout_ms),
            authorization,
        }
    }

    /// Whether there is something that may only travel to who keeps it secret.
    pub(super) fn has_token(&self) -> bool {
        self.authorization.is_some()
    }

    /// Runs git to its end, without a way out of this machine.
    pub(super) async fn run(&self, places: &Places, arguments: &[&str]) -> Result<Ended, Unended> {
        self.execute(places, arguments, self.program(places).variable("GIT_ALLOW_PROTOCOL", "none")).await
    }

    /// Runs git to its end, where it may reach one repository elsewhere.
    pub(super) async fn reach(
        &self,
        places: &Places,
        remote: &Remote,
        arguments: &[&str],
    ) -> Result<Ended, Unended> {
        let mut program = self.program(places).variable("GIT_ALLOW_PROTOCOL", remote.scheme.word());
        if let Some(secret) = self.authorization.as_ref().filter(|_| remote.private) {
            // By the environment: arguments are seen by everyone on the machine.
            program = program
                .variable("GIT_CONFIG_COUNT", "1")
                .variable("GIT_CONFIG_KEY_0", "http.extraHeader")
                .variable("GIT_CONFIG_VALUE_0", secret.expose());
        }
        self.execute(places, arguments, program).await
    }

    fn program(&self, places: &Places) -> Program {
        let program = self
            .variables
            .iter()
            .fold(Program::new(&self.program), |program, (name, value)| program.variable(name, value));
        program
            .variable("GIT_DIR", &places.own)
            .variable("GIT_WORK_TREE", &places.notes)
            // So that nothing of the person's home folder counts, such as passwords in `.netrc`.
            .variable("HOME", &places.own)
            .arguments([
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "core.fsmonitor=false",
                "-c",
                "protocol.ext.allow=never",
            ])
    }

    async fn execute(&self, places: &Places, arguments: &[&str], program: Program) -> Result<Ended, Unended> {
        let failed = |error: &dyn std::error::Error| Unended::NotStarted(error.to_string());
        let program = program.arguments(arguments.iter().copied());
        let (mut running, pipes) =
            program.start(Some(Path::new(&places.notes))).await.map_err(|error| failed(&error))?;
        // It reads nothing.
        drop(pipes.stdin);
        let ending = async { tokio::join!(gather(pipes.stdout), gather(pipes.stderr), running.wait()) };
        match tokio::time::timeout(self.timeout, ending).await {
            Ok((stdout, stderr, Ok(status))) => Ok(Ended { code: status.code(), stdout, stderr }),
            Ok((_, _, Err(error))) => Err(failed(&error)),
            Err(_) => {
                end(&mut running).await;
                Err(Unended::Late)
            }
        }
    }
}

async fn end(running: &mut Running) {
    running.end(GRACE).await;
}

/// The beginning of what git says; the rest is read too, so that git does not wait for it.
async fn gather(mut stream: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let read = async {
        (&mut stream).take(KEPT).read_to_end(&mut kept).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    if let Err(error) = read.await {
        tracing::debug!(%error, "the output of git ended early");
    }
    String::from_utf8_lossy(&kept).into_owned()
}

//! Other programs, without a shell: run to their end with what they say caught, or kept running beside us.

mod fork;
pub(crate) mod guard;
mod running;
mod sandbox;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

pub use running::{Pipes, Running};
pub use sandbox::{Network, Sandbox, SandboxError};

/// How much of each of its outputs is kept.
const KEPT: u64 = 64 * 1024;

/// How long a program may take, unless it is told otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A program to run. It sees nothing of our environment but what it is given, and is killed when we end, however we do.
#[derive(Clone)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    sandbox: Option<Sandbox>,
    time_limit: Duration,
}

/// Arguments and values of variables may be secrets.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("Program")
            .field("path", &self.path)
            .field("arguments", &self.arguments.len())
            .field("variables", &variables)
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// How a program ended, and the beginning of what it said.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

/// Why a program did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("`{}` cannot be started: {cause}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It could not be kept to what it may touch, and was not started.
    #[error("`{}` cannot be confined: {cause}", program.display())]
    Confine {
        /// The program.
        program: PathBuf,
        /// Why.
        cause: SandboxError,
    },
    /// It took too long, and was ended.
    #[error("`{}` did not end within {} s", program.display(), limit.as_secs())]
    TooLong {
        /// The program.
        program: PathBuf,
        /// How long it was given.
        limit: Duration,
    },
}

impl Program {
    /// A program at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            sandbox: None,
            time_limit: TIME_LIMIT,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Gives it a variable.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Keeps it, and all that it starts, to what it may touch. Where the kernel cannot do that, it does not start.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Says how long it may take.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Runs it to its end. It reads nothing, and it is killed when nobody waits for it any more.
    ///
    /// # Errors
    /// It does not start, or takes too long.
    pub async fn run(&self) -> Result<Finished, ProcessError> {
        let failed = |cause| ProcessError::Start { program: self.path.clone(), cause };
        #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(Path::new("/"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = fork::spawn(self, command, None).await?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let running = async { tokio::join!(gather(stdout), gather(stderr), child.wait()) };
        match tokio::time::timeout(self.time_limit, running).await {
            Ok((stdout, stderr, status)) => {
                Ok(Finished { code: status.map_err(failed)?.code(), stdout, stderr })
            }
            Err(_) => Err(ProcessError::TooLong { program: self.path.clone(), limit: self.time_limit }),
        }
    }
}

/// The beginning of what a program says; the rest is read too, so that the program does not wait for it.
async fn gather(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut kept = Vec::new();
    let read = async {
        (&mut stream).take(KEPT).read_to_end(&mut kept).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    if let Err(error) = read.await {
        tracing::debug!(%error, "the output of a program ended early");
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("/bin/sh").arguments(["-c", script])
    }

    #[tokio::test]
    async fn a_program_runs_to_its_end_with_only_the_variables_it_was_given() {
        let program = shell("echo $SEEN $HOME; echo oops >&2; exit 3").variable("SEEN", "a b");
        let finished = program.run().await.unwrap();
        let Finished { code, stdout, stderr } = finished;
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(3), "a b\n", "oops\n"));
    }

    #[test]
    fn what_may_be_secret_does_not_show() {
        let program = Program::new("/bin/x").arguments(["--key=hunter22"]).variable("TOKEN", "hunter22");
        let shown = format!("{program:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("hunter22"), "{shown}");
    }

    #[tokio::test]
    async fn arguments_are_passed_as_they_are() {
        let finished = Program::new("/bin/echo").arguments(["a  b", "$HOME", "; false"]).run().await.unwrap();
        assert_eq!(finished.stdout, "a  b $HOME ; false\n");
    }

    #[tokio::test]
    async fn of_a_long_output_the_beginning_is_kept() {
        let finished = shell("head -c 300000 /dev/zero | tr '\\0' x").variable("PATH", "/usr/bin:/bin");
        let finished = finished.run().await.unwrap();
        assert_eq!((finished.code, finished.stdout.len() as u64), (Some(0), KEPT));
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_or_is_not_there_is_an_error() {
        let late = shell("exec sleep 600").variable("PATH", "/usr/bin:/bin");
        let late = late.time_limit(Duration::from_millis(20)).run().await.unwrap_err();
        assert!(matches!(late, ProcessError::TooLong { .. }), "{late}");
        let missing = Program::new("/nowhere/at/all").run().await.unwrap_err();
        assert!(missing.to_string().starts_with("`/nowhere/at/all` cannot be started"), "{missing}");
    }
}

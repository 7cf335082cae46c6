//! One child, seen from its parent.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use toolgate_core::{Error, Kind};
use toolgate_host::Program;
use toolgate_host::process::{Pipes, Running};
use toolgate_wire::Raw;

use super::ChildLimits;
use super::wall::{Over, Wall};
use crate::frame;
use crate::talk::{Ask, Done, Failed, FromChild, Order, ToChild};

/// The longest message that a child may send: an answer or a body of the largest size, with everything escaped.
const LONGEST: usize = 8 << 20;

/// How long a child may take to begin, on a machine that does much else.
const BEGIN: Duration = Duration::from_secs(60);

/// How long is waited for the last words of a child that ended, on a machine that does much else.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How much of what a child complains is read. It has nothing to say before its end: one that fills the pipe
/// waits there until its time is over.
const COMPLAINT: u64 = 2048;

/// Who answers what a script asks for.
pub(crate) trait Answering {
    /// Answers within the time of the script.
    fn answer(
        &self,
        ask: Ask,
        wall: &mut Wall,
    ) -> impl Future<Output = Result<Result<Raw, String>, Over>> + Send;
}

/// How a script ended, if it came to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With an answer.
    Done(Done),
    /// By its own fault.
    Failed(Failed),
}

/// Why a script did not come to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The child was gone before it began.
    Gone,
    /// The child ended in the midst of it, or spoke nonsense.
    Broke(io::Error),
    /// The time was over.
    Late,
}

/// One child.
#[derive(Debug)]
pub(crate) struct Worker {
    running: Running,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
    runs: u32,
    cpu: Duration,
}

impl Worker {
    /// Starts a child and waits until it is confined.
    pub(super) async fn start(program: &Program) -> io::Result<Self> {
        let (running, pipes) = program.start(None).await.map_err(io::Error::other)?;
        let Pipes { stdin, stdout, stderr } = pipes;
        let stdout = BufReader::new(stdout);
        let mut this = Self { running, stdin, stdout, stderr, runs: 0, cpu: Duration::ZERO };
        match tokio::time::timeout(BEGIN, frame::receive(&mut this.stdout, LONGEST)).await {
            Ok(Ok(FromChild::Ready)) => Ok(this),
            Ok(Ok(_)) => Err(io::Error::other("it began with something else than being ready")),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    /// How much processor time it has used, by its own word.
    pub(super) fn cpu(&self) -> Duration {
        self.cpu
    }

    /// Runs a script.
    pub(super) async fn run(
        &mut self,
        order: &Order,
        answering: &impl Answering,
        wall: &mut Wall,
    ) -> Result<Ended, Fault> {
        let order = ToChild::Run(order.clone());
        wall.limit(frame::send(&mut self.stdin, &order)).await?.map_err(|_| Fault::Gone)?;
        self.runs += 1;
        loop {
            match wall.limit(frame::receive(&mut self.stdout, LONGEST)).await?? {
                FromChild::Ask(ask) => {
                    let answer = ToChild::Answer(answering.answer(ask, wall).await?);
                    wall.limit(frame::send(&mut self.stdin, &answer)).await??;
                }
                FromChild::Done(done) => {
                    self.cpu = Duration::from_millis(done.cpu_ms);
                    return Ok(Ended::Done(done));
                }
                FromChild::Failed(failed) => return Ok(Ended::Failed(failed)),
                FromChild::Ready => {
                    return Err(Fault::Broke(io::Error::other(
                        "it says that it is ready in the midst of work",
                    )));
                }
            }
        }
    }

    /// What it said last, to the end of it, and how it ended.
    async fn last_words(&mut self) -> (String, String) {
        let (mut complaint, mut status) = (Vec::new(), None);
        let end = async {
            // What cannot be read was not said.
            (&mut self.stderr).take(COMPLAINT).read_to_end(&mut complaint).await.ok();
            status = self.running.wait().await.ok();
        };
        tokio::time::timeout(LAST_WORDS, end).await.ok();
        let status = status.map(|status| status.to_string()).unwrap_or_default();
        (String::from_utf8_lossy(&complaint).into_owned(), status)
    }
}

impl From<Over> for Fault {
    fn from(_: Over) -> Self {
        Self::Late
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Broke(error)
    }
}

impl Fault {
    /// What to tell the caller.
    pub(super) async fn told(self, limits: ChildLimits, worker: &mut Worker) -> Error {
        let cause = match self {
            Self::Late => {
                let limit = limits.time.as_secs_f64();
                return Error::new(
                    Kind::Timeout,
                    format!("the script took longer than {limit} s and was ended"),
                )
                .hint("let it do less at once, or raise `scripts.timeout_ms` in the configuration");
            }
            Self::Gone => io::Error::from(io::ErrorKind::BrokenPipe),
            Self::Broke(error) => error,
        };
        if !matches!(cause.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe) {
            // It speaks nonsense, and might go on for ever.
            worker.running.end(Duration::ZERO).await;
        }
        let (complaint, status) = worker.last_words().await;
        let has = |word: &str| complaint.contains(word);
        let (what, hint) = if has("memory allocation of") || has("out of memory") {
            let most = limits.memory >> 20;
            (
                format!("the script needed more than {most} MB of memory and was ended"),
                "let it hold less at once, or raise `scripts.max_memory_mb` in the configuration",
            )
        } else if has("overflowed its stack") {
            ("the script nests so deeply that it was ended".into(), "nest data and calls less deeply")
        } else if status.contains("SIGXCPU") || status.contains("SIGKILL") {
            ("the script used too much processor time and was ended".into(), "let it do less at once")
        } else {
            ("the script broke the process that ran it".into(), "change the script; the log says more")
        };
        tracing::debug!(%cause, status, complaint, "a child that ran a script ended");
        Error::new(Kind::InvalidInput, what).hint(hint).because(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_that_speaks_nonsense_is_ended_before_it_is_told_of() {
        // It says that it is ready, then a length that nobody means, and stays.
        let words = r#"printf '\007\000\000\000"Ready"'; printf '\377\377\377\377'; exec sleep 600"#;
        let program = Program::new("/bin/sh").arguments(["-c", words]).variable("PATH", "/usr/bin:/bin");
        let mut worker = Worker::start(&program).await.unwrap();
        let said = frame::receive::<FromChild>(&mut worker.stdout, LONGEST).await.unwrap_err();
        let limits = ChildLimits { memory: 1 << 20, time: Duration::from_secs(600) };
        let told = Fault::Broke(said).told(limits, &mut worker).await;
        assert_eq!(told.message(), "the script broke the process that ran it");
        assert_eq!(worker.running.id(), None, "it goes on");
    }
}

//! Other programs that keep running beside us: a process group of their own, ended as a whole.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpgid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{ProcessError, Program, fork, guard};

/// How long processes that were killed may take to be gone.
const BURIAL: Duration = Duration::from_secs(5);

/// A program that runs beside us, with all that it starts. When this is dropped, they are killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Its process group, until the whole of it has been ended.
    group: Option<Pid>,
    /// The group that was killed, until what of it became ours is buried.
    killed: Option<Pid>,
}

/// The three ends that we hold of a program's standard streams.
#[derive(Debug)]
pub struct Pipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// What it complains.
    pub stderr: ChildStderr,
}

impl Program {
    /// Starts it in a process group of its own, in a folder, with pipes to it. The time limit does not hold for it.
    ///
    /// It ends with us, and so does all that it starts, unless that leaves the group.
    ///
    /// # Errors
    /// It does not start, or cannot be confined.
    pub async fn start(&self, folder: Option<&Path>) -> Result<(Running, Pipes), ProcessError> {
        let failed = |cause| ProcessError::Start { program: self.path.clone(), cause };
        #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let mut child = fork::spawn(self, command, folder).await?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(group) = group {
            guard::watch(group);
        }
        let running = |child| Running { child, group, killed: None };
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok((running(child), Pipes { stdin, stdout, stderr }))
            }
            _ => Err(failed(io::Error::other("it has no standard streams"))),
        }
    }
}

impl Running {
    /// Its process id; none once it has ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for its end, and then ends what it left behind.
    ///
    /// # Errors
    /// The system does not say how it ended.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.kill();
        self.bury().await;
        Ok(status)
    }

    /// Ends it and all that it started: a word first, then by force.
    pub async fn end(&mut self, grace: Duration) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
            tracing::debug!("a program did not end when asked to, and is killed");
        }
        self.kill();
        if let Err(error) = self.child.wait().await {
            tracing::debug!(%error, "the end of a program cannot be seen");
            return;
        }
        self.bury().await;
    }

    /// Buries orphans of its group: they come to us where we are the first process of a container. Its own end has to be
    /// known by then.
    async fn bury(&mut self) {
        let Some(group) = self.killed else { return };
        let end = Instant::now() + BURIAL;
        // An error says that none of the group is ours.
        while let Ok(buried) = waitpgid(group, WaitOptions::NOHANG) {
            if buried.is_some() {
                continue;
            }
            if Instant::now() >= end {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.killed = None;
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        // Once its leader is gone and the group is empty, the number may become somebody else's.
        if let Some(group) = self.group.take() {
            guard::forget(group);
            self.killed = Some(group);
        }
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = self.group else { return };
        if let Err(error) = kill_process_group(group, signal) {
            // A group that is gone already is as it should be.
            tracing::trace!(%error, "a program takes no signal");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("/bin/sh").arguments(["-c", script]).variable("PATH", "/usr/bin:/bin")
    }

    /// Starts a script whose first line is the id of a process it started.
    async fn with_grandchild(script: &str) -> (Running, Pipes, Pid) {
        let (running, mut pipes) = shell(script).start(None).await.unwrap();
        let mut line = String::new();
        BufReader::new(&mut pipes.stdout).read_line(&mut line).await.unwrap();
        (running, pipes, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
    }

    /// Waits until a process is gone, however long the machine takes to notice.
    async fn gone(pid: Pid) {
        let limit = tokio::time::Instant::now() + Duration::from_secs(120);
        while test_kill_process(pid).is_ok() && !is_zombie(pid) {
            assert!(tokio::time::Instant::now() < limit, "the grandchild lives on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whoever adopts orphans here may be slow to bury them.
    fn is_zombie(pid: Pid) -> bool {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
    }

    #[tokio::test]
    async fn a_program_reads_and_writes_while_it_runs() {
        let (mut running, mut pipes) = shell("pwd; cat").start(Some(Path::new("/"))).await.unwrap();
        pipes.stdin.write_all(b"hello\n").await.unwrap();
        let mut lines = BufReader::new(pipes.stdout).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("/"));
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("hello"));
        drop(pipes.stdin);
        assert!(running.wait().await.unwrap().success());
    }

    #[tokio::test]
    async fn all_that_a_program_started_ends_with_it() {
        let (mut running, _pipes, grandchild) = with_grandchild("sleep 600 & echo $!; wait").await;
        running.end(Duration::from_secs(30)).await;
        gone(grandchild).await;

        let (running, _pipes, grandchild) = with_grandchild("sleep 600 & echo $!; wait").await;
        drop(running);
        gone(grandchild).await;

        let (mut running, _pipes, grandchild) = with_grandchild("sleep 600 & echo $!").await;
        running.wait().await.unwrap();
        gone(grandchild).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn orphans_that_come_to_us_are_buried() {
        use rustix::process::{getpid, set_child_subreaper};

        // As it is where we are the first process of a container.
        set_child_subreaper(Some(getpid())).unwrap();
        let (mut running, _pipes, grandchild) = with_grandchild("sleep 600 & echo $!").await;
        running.wait().await.unwrap();
        assert!(test_kill_process(grandchild).is_err());

        let (mut running, _pipes, grandchild) = with_grandchild("sleep 600 & echo $!; wait").await;
        running.end(Duration::from_secs(30)).await;
        assert!(test_kill_process(grandchild).is_err());
    }

    #[tokio::test]
    async fn a_program_that_does_not_listen_is_killed() {
        let script = "trap '' TERM; sleep 600 & echo $!; while :; do wait; done";
        let (mut running, _pipes, grandchild) = with_grandchild(script).await;
        running.end(Duration::from_millis(20)).await;
        gone(grandchild).await;
        assert_eq!(running.id(), None);
    }
}

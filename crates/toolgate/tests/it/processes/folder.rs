//! A data folder, and the processes on it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use crate::process::{PATIENCE, Place, run, until};

/// A data folder, and what runs on it.
pub(super) struct Folder {
    pub(super) place: Place,
}

impl Folder {
    pub(super) fn new() -> Self {
        Self { place: Place::new() }
    }

    pub(super) fn data(&self) -> PathBuf {
        self.place.path().join(".local/share/toolgate")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.data().join("control.sock")
    }

    /// `toolgate serve` with the fixtures and these arguments.
    pub(super) fn serve(&self, arguments: &[&str]) -> Process {
        let mut command = self.place.toolgate(&["serve", "--fixtures"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Process {
            input: child.stdin.take(),
            lines: lines_of(child.stdout.take().unwrap()),
            log: lines_of(child.stderr.take().unwrap()),
            child,
        }
    }

    /// One that owns the folder and serves HTTP.
    pub(super) fn owner(&self) -> Process {
        let owner = self.serve(&["--http", "--port", "0"]);
        self.owned_by(&owner);
        owner
    }

    /// Waits until a process owns the folder.
    #[track_caller]
    pub(super) fn owned_by(&self, process: &Process) {
        until("the process owns the folder", || self.status()["pid"] == process.pid());
    }

    /// What `toolgate status --json` prints.
    pub(super) fn status(&self) -> Value {
        serde_json::from_str(&run(self.place.toolgate(&["status", "--json"]), b"").stdout).unwrap()
    }
}

/// The permission bits of something.
pub(super) fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A process; dropping it kills it.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Receiver<String>,
}

impl Process {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next message on standard output.
    #[track_caller]
    pub(super) fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line on standard output");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not JSON: {error}: {line}"))
    }

    /// The next message that is no notification of progress.
    #[track_caller]
    pub(super) fn answer(&self) -> Value {
        loop {
            let message = self.next();
            if message["method"] != "notifications/progress" {
                return message;
            }
        }
    }

    /// Sends a message and reads the answer.
    #[track_caller]
    pub(super) fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line);
        self.answer()
    }

    /// The next line of the log that holds a text.
    #[track_caller]
    pub(super) fn logged(&self, text: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no word of `{text}`"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Where it listens, as it says.
    #[track_caller]
    pub(super) fn address(&self) -> std::net::SocketAddr {
        let line = self.logged("listening on http://");
        line.split_once("http://").unwrap().1.trim_end_matches("/mcp").parse().unwrap()
    }

    /// Ends it as nothing can hold up.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop.
    pub(super) fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Ends its input; what it still says, and its exit code.
    pub(super) fn finish(mut self) -> (Vec<String>, Option<i32>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(line);
        }
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended is waited for all the same, so that nothing of it is left.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

//! Programs that tests start: the binary, and its real peers. Each runs in a folder of its own and ends with its handle.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start the binary as its users do, and find the peers where the set-up put them"
)]

use std::env;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio as Pipe};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::web::Ask;

/// How long a test waits for what should come at once. It only turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The binary under test.
pub(crate) const TOOLGATE: &str = env!("CARGO_BIN_EXE_toolgate");

/// A folder to run programs in: it is their home and working folder, and holds all they write.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with this `toolgate.toml`.
    pub(crate) fn configured(toml: &str) -> Self {
        let this = Self::new();
        std::fs::write(this.path().join("toolgate.toml"), toml).unwrap();
        this
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A program with nothing of the tester's environment but the search path.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        Self::command_in(self.path(), program)
    }

    /// The same, in a place that someone else keeps.
    pub(crate) fn command_in(home: &Path, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("HOME", home).current_dir(home);
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
        command
    }

    /// The binary with these arguments.
    pub(crate) fn toolgate(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(TOOLGATE);
        command.args(arguments);
        command
    }
}

/// A configuration without limits, unless it is about them: tests that wait for something ask again and again.
pub(crate) fn unlimited(toml: &str) -> String {
    if toml.contains("[limits]") { toml.into() } else { format!("{toml}\n[limits]\nenabled = false\n") }
}

/// Writes a file as editors do: a new one in place of the old one, so that nobody reads half of it.
pub(crate) fn replace(path: &Path, text: &str) {
    std::fs::write(path.with_extension("new"), text).unwrap();
    std::fs::rename(path.with_extension("new"), path).unwrap();
}

/// A program that runs; dropping this kills it.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}")))
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Waits for its end; the code, which a program that a signal killed has not.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.ended().code()
    }

    /// What it said on standard output until its end, where that is a pipe.
    pub(crate) fn stdout(&mut self) -> String {
        gather(self.0.stdout.take()).join().unwrap()
    }

    /// Stops reading its standard output.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.0.stdout.take());
    }

    fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the program does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is waited for all the same, so that nothing of it is left.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program to its end.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Ended {
    command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
    let mut running = Running::start(command);
    let (stdout, stderr) = (gather(running.0.stdout.take()), gather(running.0.stderr.take()));
    let mut stdin = running.0.stdin.take().unwrap();
    let input = input.to_vec();
    // One that reads none of its input may be gone before it is written.
    let writing = thread::spawn(move || drop(stdin.write_all(&input)));
    let status = running.ended();
    writing.join().unwrap();
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    let code = status.code().unwrap_or_else(|| panic!("killed by {:?}: {stderr}", status.signal()));
    Ended { code, stdout, stderr }
}

fn gather(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    let mut stream = stream.unwrap();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

/// `toolgate serve --http` on a free port.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
    pub(crate) place: Place,
}

impl Server {
    /// One that serves its fixtures.
    pub(crate) fn start() -> Self {
        Self::start_in(Place::new(), &["--fixtures"])
    }

    /// One that serves its fixtures under this `toolgate.toml`.
    pub(crate) fn configured(toml: &str) -> Self {
        Self::start_in(Place::configured(toml), &["--fixtures"])
    }

    pub(crate) fn start_in(place: Place, arguments: &[&str]) -> Self {
        let mut command = place.toolgate(&["serve", "--http", "--port", "0"]);
        command.args(arguments).stdin(Pipe::null()).stdout(Pipe::null()).stderr(Pipe::piped());
        let mut running = Running::start(command);
        let lines = lines_of(running.0.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let line = lines.recv_timeout(PATIENCE).expect("the server says where it listens");
            if let Some((_, rest)) = line.split_once("listening on http://") {
                break rest.trim_end_matches("/mcp").parse().unwrap();
            }
            note(&log, &line);
        };
        let kept = log.clone();
        thread::spawn(move || lines.iter().for_each(|line| note(&kept, &line)));
        Self { running, address, log, place }
    }

    /// Kills it as a crash would; what it had written stays where it is.
    pub(crate) fn kill(self) -> Place {
        let Self { mut running, place, .. } = self;
        running.signal(Signal::KILL);
        assert_eq!(running.ended().signal(), Some(9));
        place
    }

    /// What it has logged since it listens.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Ask {
        Ask::new(self.address, "GET", path)
    }

    pub(crate) fn delete(&self, path: &str) -> Ask {
        Ask::new(self.address, "DELETE", path)
    }

    /// A message to the endpoint, without any header.
    pub(crate) fn post(&self, body: impl Into<Vec<u8>>) -> Ask {
        Ask::new(self.address, "POST", "/mcp").body(body)
    }

    /// How many calls ended so, by `/metrics`.
    pub(crate) fn calls(&self, target: &str, outcome: &str) -> u64 {
        self.metric(&format!("toolgate_calls_total{{target=\"{target}\",outcome=\"{outcome}\"}}"))
    }

    /// A counter of `/metrics`; one that is not there counts nothing.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").send().text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |value| value.parse().unwrap())
    }
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "it never came to pass that {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn note(log: &Mutex<String>, line: &str) {
    let mut log = log.lock().unwrap();
    log.push_str(line);
    log.push('\n');
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            // Bytes that are no text show as such in whatever the test then finds wrong.
            let Ok(line) = line.map(|line| String::from_utf8_lossy(&line).into_owned()) else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// `toolgate serve` on standard input and output.
pub(crate) struct Stdio {
    pub(crate) running: Running,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    _place: Place,
}

impl Stdio {
    /// One that serves its fixtures.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_in(Place::new(), &[&["--fixtures"], arguments].concat())
    }

    /// One that serves what is configured in its place.
    pub(crate) fn start_in(place: Place, arguments: &[&str]) -> Self {
        let mut command = place.toolgate(&["serve"]);
        command.args(arguments).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        let mut running = Running::start(command);
        // Whatever it says there must not stop it because nobody reads.
        drop(gather(running.0.stderr.take()));
        let lines = lines_of(running.0.stdout.take().unwrap());
        let input = running.0.stdin.take();
        Self { running, input, lines, _place: place }
    }

    /// One whose standard output is in the hands of the test, which may read it or not.
    pub(crate) fn start_unread(place: &Place) -> (Running, ChildStdin, ChildStdout) {
        let mut command = place.toolgate(&["serve", "--fixtures"]);
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::null());
        let mut running = Running::start(command);
        let (input, output) = (running.0.stdin.take().unwrap(), running.0.stdout.take().unwrap());
        (running, input, output)
    }

    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next line of standard output.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line on standard output")
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not JSON: {error}: {line}"))
    }

    /// Sends a message and reads the next one.
    #[track_caller]
    pub(crate) fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line);
        self.next()
    }

    /// Ends its input; what it still says, and its exit code.
    pub(crate) fn finish(mut self) -> (Vec<String>, Option<i32>) {
        drop(self.input.take());
        self.end()
    }

    /// What it still says until it ends by itself, and its exit code.
    pub(crate) fn end(mut self) -> (Vec<String>, Option<i32>) {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(line);
        }
        (rest, self.running.code())
    }
}

/// Where the set-up put the real peers. Without them the tests fail: none is skipped.
pub(crate) fn peers() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let peers = match env::var_os("TOOLGATE_PEERS_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => env::current_dir().unwrap().join(dir),
        None => repository.join("target/peers"),
    };
    assert!(
        peers.join("stamp").is_file(),
        "the real peers are not installed in `{}`; run `cargo xtask test`, which installs them",
        peers.display(),
    );
    peers
}

/// A script of `tests/peers`.
pub(crate) fn peer_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers").join(name)
}

/// A program of the peers: their Node comes first on the search path.
pub(crate) fn peer(place: &Place, program: impl AsRef<Path>) -> Command {
    let peers = peers();
    let mut command = place.command(program);
    let rest = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([peers.join("bin")].into_iter().chain(env::split_paths(&rest))).unwrap();
    command.env("PATH", path).env("TOOLGATE_PEERS_DIR", peers);
    command
}

/// What commands changed, as `audit search` found it, oldest first.
pub(crate) fn by_command(found: &Value) -> Vec<String> {
    let target = |item: &Value| item["target"].as_str()?.strip_prefix("method:command/").map(str::to_owned);
    let items = found["items"].as_array().unwrap_or_else(|| panic!("no items: {found}"));
    items
        .iter()
        .rev()
        .map(|item| target(item).unwrap_or_else(|| panic!("not by a command: {item}")))
        .collect()
}

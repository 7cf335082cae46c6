//! Other programs: that they end with us, and touch only what they may. The programs are this test binary, started again.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolgate_host::Program;
use toolgate_host::kernel::landlock_version;
use toolgate_host::process::{Network, ProcessError, Sandbox};

const PLACE: &str = "TOOLGATE_HOST_TEST_PLACE";
const PORTS: &str = "TOOLGATE_HOST_TEST_PORTS";

#[expect(clippy::disallowed_methods, reason = "how this test tells its own child what to do")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn shell(script: &str) -> Program {
    Program::new("/bin/sh").arguments(["-c", script]).variable("PATH", "/usr/bin:/bin")
}

/// Whether a process lives; one that only waits to be buried does not.
fn alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Waits until something is so, however long the machine takes.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never so: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    begun.elapsed()
}

/// The part of the child: it starts a program that starts another, says which they are, and waits to be killed.
#[tokio::test(flavor = "multi_thread")]
async fn child_starts_programs() {
    let Some(place) = variable(PLACE).map(PathBuf::from) else { return };
    // Neither of them reads its input or hears a polite signal.
    let script = "trap '' TERM HUP INT; sleep 600 & echo $$ $!; while :; do wait; done";
    let (_running, mut pipes) = shell(script).start(None).await.unwrap();
    let mut line = String::new();
    BufReader::new(&mut pipes.stdout).read_line(&mut line).await.unwrap();
    fs::write(place.join("half"), line).unwrap();
    fs::rename(place.join("half"), place.join("processes")).unwrap();
    std::future::pending().await
}

#[expect(clippy::disallowed_methods, reason = "the test needs another process")]
fn again(test: &str, place: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--test-threads", "1"]).env(PLACE, place);
    command.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn when_we_are_killed_by_force_all_that_we_started_ends() {
    let place = tempfile::tempdir().unwrap();
    let mut child = again("programs::child_starts_programs", place.path());
    let said = place.path().join("processes");
    until("the programs run", || said.exists());
    let processes: Vec<u32> =
        fs::read_to_string(said).unwrap().split_whitespace().map(|id| id.parse().unwrap()).collect();
    assert_eq!(processes.len(), 2);
    assert!(processes.iter().all(|process| alive(*process)));
    child.kill().unwrap();
    child.wait().unwrap();
    let took = until("they are gone", || processes.iter().all(|process| !alive(*process)));
    println!("a killed parent's program and what that had started were gone after {took:?}");
}

#[test]
fn a_program_outlives_the_thread_that_wanted_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    let wanted = std::thread::spawn(move || handle.block_on(shell("cat").start(None)).unwrap());
    let (mut running, mut pipes) = wanted.join().unwrap();
    runtime.block_on(async {
        pipes.stdin.write_all(b"still here\n").await.unwrap();
        let mut line = String::new();
        BufReader::new(&mut pipes.stdout).read_line(&mut line).await.unwrap();
        assert_eq!(line, "still here\n");
        drop(pipes.stdin);
        assert!(running.wait().await.unwrap().success());
    });
}

/// The part of the child: it tries what it may and may not do, and says how that went.
#[test]
fn child_tries() {
    let (Some(place), Some(ports)) = (variable(PLACE).map(PathBuf::from), variable(PORTS)) else { return };
    let tried = |what: &str, worked: bool| println!("\ntried {what}: {}", if worked { "yes" } else { "no" });
    for folder in ["named", "given", "other"] {
        let at = |name: &str| place.join(folder).join(name);
        tried(&format!("read {folder}"), fs::read(at("file")).is_ok());
        tried(&format!("list {folder}"), fs::read_dir(place.join(folder)).is_ok());
        tried(&format!("write {folder}"), fs::write(at("file"), "new").is_ok());
        tried(&format!("make {folder}"), fs::write(at("made"), "new").is_ok());
        tried(&format!("remove {folder}"), fs::remove_file(at("gone")).is_ok());
    }
    tried("system", fs::read("/etc/passwd").is_ok() && fs::read_dir("/usr").is_ok());
    tried("null", fs::write("/dev/null", "x").is_ok());
    for (what, port) in ["first", "second"].iter().zip(ports.split(' ')) {
        tried(what, TcpStream::connect(("127.0.0.1", port.parse().unwrap())).is_ok());
    }
    tried("listen", TcpListener::bind("127.0.0.1:0").is_ok());
    let status = fs::read_to_string("/proc/self/status").is_ok();
    tried("processes", status);
}

/// A place with three folders, and listeners on two ports.
struct Scene {
    place: tempfile::TempDir,
    listeners: [TcpListener; 2],
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["named", "given", "other"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            for file in ["file", "gone"] {
                fs::write(place.path().join(folder).join(file), "old").unwrap();
            }
        }
        Self { place, listeners: [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap()) }
    }

    fn port(&self, number: usize) -> u16 {
        self.listeners[number].local_addr().unwrap().port()
    }

    /// What a program can do in a sandbox that lets it read `named` and write `given`.
    async fn tried(&self, network: Network) -> Result<String, ProcessError> {
        let at = |folder: &str| self.place.path().join(folder);
        let sandbox = Sandbox { read: vec![at("named")], write: vec![at("given")], network };
        let program = Program::new(std::env::current_exe().unwrap())
            .arguments(["--exact", "programs::child_tries", "--nocapture", "--test-threads", "1"])
            .variable(PLACE, self.place.path())
            .variable(PORTS, format!("{} {}", self.port(0), self.port(1)))
            .sandbox(sandbox);
        let finished = program.run().await?;
        assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
        let tried = finished.stdout.lines().filter_map(|line| line.strip_prefix("tried "));
        let worked = tried.filter_map(|line| line.strip_suffix(": yes"));
        Ok(worked.collect::<Vec<_>>().join(", "))
    }
}

#[tokio::test]
async fn a_confined_program_touches_only_what_it_may_or_does_not_start() {
    const FILES: &str = "read named, list named, read given, list given, write given, make given, \
                         remove given, system, null";
    for (network, more, needed) in [
        (Network::All, ", first, second, listen", 3),
        (Network::None, "", 4),
        (Network::Ports(vec![0]), "", 4),
    ] {
        let scene = Scene::new();
        // The first port, where ports are meant.
        let (network, more) = match network {
            Network::Ports(_) => (Network::Ports(vec![scene.port(0)]), ", first"),
            other @ (Network::All | Network::None) => (other, more),
        };
        let tried = scene.tried(network.clone()).await;
        if landlock_version().is_some_and(|version| version >= needed) {
            println!("the kernel can hold {network:?}: the effect is checked");
            assert_eq!(tried.unwrap(), format!("{FILES}{more}"), "{network:?}");
        } else {
            println!("the kernel cannot hold {network:?}: it is checked that nothing starts");
            assert!(matches!(tried, Err(ProcessError::Confine { .. })), "{tried:?}");
        }
    }
}

#[tokio::test]
async fn a_sandbox_with_a_path_that_is_not_there_lets_nothing_start() {
    let sandbox = Sandbox { read: vec!["/nowhere/at/all".into()], ..Sandbox::default() };
    let error = shell("exit 0").sandbox(sandbox).run().await.unwrap_err();
    let ProcessError::Confine { cause, .. } = &error else { panic!("{error}") };
    let expect = match landlock_version() {
        Some(4..) => "`/nowhere/at/all` cannot be opened",
        Some(_) => "needs version 4",
        None => "no Landlock",
    };
    assert!(cause.to_string().contains(expect), "{error}");
}

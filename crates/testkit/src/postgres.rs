//! A real PostgreSQL for tests: a private cluster on loopback, which goes when the test binary does.

#![expect(clippy::disallowed_methods, reason = "tests need a real server, and have to find it")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

const USER: &str = "toolgate";
/// Told apart from everything else in logs and errors, where it must not be.
const PASSWORD: &str = "pg-test-pass-7f3a";

const START_LIMIT: Duration = Duration::from_secs(180);
const START_TRIES: usize = 5;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Runs the server until its input ends, as it does when we are gone, however we went; then it removes the folder. A line
/// ends the server, too, but leaves the folder. A server that has just begun does not hear the first signal.
const KEEPER: &str = r#"
folder=$1; shift
"$@" >"$folder/log" 2>&1 &
server=$!
if read -r line; then leave=yes; else leave=; fi
while kill -QUIT "$server" 2>/dev/null; do sleep 0.2; done &
wait "$server"
[ -n "$leave" ] || rm -rf "$folder"
"#;

static NEXT: AtomicUsize = AtomicUsize::new(0);
static SHARED: LazyLock<Postgres> = LazyLock::new(Postgres::start);

/// A running PostgreSQL with a cluster of its own.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    owner: Option<Owner>,
    port: u16,
    keeper: Mutex<Option<Child>>,
}

/// Who runs the server: it refuses to be run by root.
#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

impl Postgres {
    /// The one that all tests of this binary share.
    pub fn shared() -> &'static Self {
        &SHARED
    }

    /// One of one's own, to be stopped and resumed at will. It takes a second or two.
    pub fn start() -> Self {
        let programs = programs();
        let owner = owner();
        let folder = new_folder(owner);
        make_cluster(&programs, &folder, owner);
        let mut server = Self { programs, folder, owner, port: 0, keeper: Mutex::new(None) };
        for _ in 0..START_TRIES {
            server.port = free_port();
            // Another program may have taken the port since.
            if server.run() {
                return server;
            }
        }
        panic!("PostgreSQL does not start:\n{}", server.log());
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    /// The address of a database.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }

    /// The password that stands in every address.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// Runs a statement in a database (a name, or an address), and gives what it answers, a line each.
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let name = database.rsplit('/').next().unwrap_or(database);
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", USER])
            .args(["-p", &self.port.to_string(), "-d", name, "-c", statement])
            .env("PGPASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{statement}` failed: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Stops the server as a crash would: every connection breaks.
    pub fn stop(&self) {
        self.end(b"stop\n");
    }

    /// Starts the server again, at the same address.
    pub fn resume(&self) {
        assert!(self.run(), "PostgreSQL does not start again:\n{}", self.log());
    }

    /// Starts the server, and says whether it came up.
    fn run(&self) -> bool {
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "keeper"]).arg(&self.folder).arg(self.programs.join("postgres"));
        command.arg("-D").arg(self.folder.join("data")).args(["-p", &self.port.to_string()]);
        for setting in
            ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=200"]
        {
            command.args(["-c", setting]);
        }
        // Not of our group, so that an interrupt at the terminal reaches only us.
        as_owner(&mut command, self.owner).process_group(0).stdin(Stdio::piped());
        let keeper = command.spawn().unwrap();
        *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(keeper);
        let begun = Instant::now();
        while begun.elapsed() < START_LIMIT {
            if self.answers() {
                return true;
            }
            if self.log().trim_end().ends_with("database system is shut down") {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        self.stop();
        false
    }

    fn answers(&self) -> bool {
        let mut ready = Command::new(self.programs.join("pg_isready"));
        ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        ready.status().unwrap().success()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn end(&self, word: &[u8]) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut keeper) = keeper else { return };
        if let Some(mut input) = keeper.stdin.take() {
            // Whoever is not there any more needs no word.
            drop(input.write_all(word));
        }
        keeper.wait().unwrap();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.end(b"");
        // Where the server had been stopped before, nobody has removed it yet.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// The folder with `initdb` and the others, on the search path or where Debian puts it.
fn programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("initdb"));
    let mut debian: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin/initdb")).collect())
        .unwrap_or_default();
    debian.sort();
    // What is on the path may be a link to the folder where all of them are.
    let found = on_path.chain(debian.into_iter().rev()).filter_map(|initdb| fs::canonicalize(initdb).ok());
    let mut folders = found.filter_map(|initdb| initdb.parent().map(Path::to_owned));
    let Some(folder) = folders.find(|folder| folder.join("postgres").exists()) else {
        panic!("PostgreSQL is missing; `cargo xtask test --only setup` installs it");
    };
    folder
}

/// Another user to run the server as, where we are root.
fn owner() -> Option<Owner> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let fields = fields.into_iter().find(|fields| fields.first() == Some(&name))?;
        Some(Owner { user: fields.get(2)?.parse().ok()?, group: fields.get(3)?.parse().ok()? })
    };
    let owner = find("postgres").or_else(|| find("nobody"));
    assert!(owner.is_some(), "PostgreSQL is not run by root, and there is neither `postgres` nor `nobody`");
    owner
}

fn as_owner(command: &mut Command, owner: Option<Owner>) -> &mut Command {
    if let Some(Owner { user, group }) = owner {
        command.uid(user).gid(group);
    }
    command.current_dir("/")
}

fn new_folder(owner: Option<Owner>) -> PathBuf {
    let name = format!("toolgate-postgres-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    // A process with our number may have died before it could tidy up.
    drop(fs::remove_dir_all(&folder));
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    fs::write(folder.join("password"), PASSWORD).unwrap();
    if let Some(Owner { user, group }) = owner {
        chown(folder.join("password"), Some(user), Some(group)).unwrap();
        chown(&folder, Some(user), Some(group)).unwrap();
    }
    folder
}

fn make_cluster(programs: &Path, folder: &Path, owner: Option<Owner>) {
    let mut command = Command::new(programs.join("initdb"));
    command.args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256"]);
    // Texts are not ordered by their bytes, as on most servers; before version 15 that was not to be had everywhere.
    if help(programs).contains("--icu-locale") {
        command.args(["--locale-provider=icu", "--icu-locale=en"]);
    }
    command.arg(format!("--username={USER}")).arg("--pwfile").arg(folder.join("password"));
    command.arg("-D").arg(folder.join("data")).stdin(Stdio::null());
    let output = as_owner(&mut command, owner).output().unwrap();
    assert!(output.status.success(), "`initdb` failed: {}", String::from_utf8_lossy(&output.stderr));
}

fn help(programs: &Path) -> String {
    let output = Command::new(programs.join("initdb")).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_until_it_is_stopped_and_again_when_it_is_resumed() {
        let server = Postgres::start();
        let database = server.database();
        server.sql(&database, "CREATE TABLE t (x INT); INSERT INTO t VALUES (7)");
        server.stop();
        assert!(!server.answers());
        server.resume();
        assert_eq!(server.sql(&database, "SELECT x FROM t"), "7\n");
        let folder = server.folder.clone();
        drop(server);
        assert!(!folder.exists());
    }
}

//! Fifty servers: where each lives, and which processes there are of it.

#![expect(
    clippy::disallowed_methods,
    reason = "servers over HTTP are started here, as somebody else's would be"
)]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tempfile::TempDir;

use super::fake;

/// How many servers there are, and how many of them nobody disturbs.
pub(super) const SERVERS: usize = 50;
pub(super) const CALM: usize = 10;

/// One server.
pub(super) struct Fake {
    pub(super) name: String,
    pub(super) place: PathBuf,
    pub(super) modern: bool,
    /// Where it listens, if it is not a child of the hub's.
    pub(super) address: Option<SocketAddr>,
    child: Mutex<Option<Child>>,
}

/// All servers; those over HTTP end with this.
pub(super) struct Herd {
    root: TempDir,
    pub(super) all: Vec<Fake>,
}

/// A process of a server, or one that it started.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: i32,
    group: i32,
    pub(super) server: String,
    pub(super) is_server: bool,
}

impl Herd {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let all: Vec<Fake> = (0..SERVERS).map(|number| Fake::new(number, root.path())).collect();
        all.iter().for_each(Fake::start);
        Self { root, all }
    }

    pub(super) fn calm(&self) -> &[Fake] {
        &self.all[..CALM]
    }

    pub(super) fn wild(&self) -> &[Fake] {
        &self.all[CALM..]
    }

    /// The tables of the configuration.
    pub(super) fn toml(&self) -> String {
        self.all.iter().map(Fake::table).collect()
    }

    /// How many connections the hub needs to servers that are its children: a legacy server has one for clients that can
    /// be asked something, and one for those that cannot.
    pub(super) fn connections(&self) -> usize {
        let children = self.all.iter().filter(|fake| fake.address.is_none());
        children.map(|fake| if fake.modern { 1 } else { 2 }).sum()
    }

    /// All processes of all servers that are children of the hub, and what these started.
    pub(super) fn processes(&self) -> Vec<Process> {
        let found = numbers().filter_map(|id| Process::of(id, self.root.path()));
        found
            .filter(|process| {
                self.all.iter().any(|fake| fake.name == process.server && fake.address.is_none())
            })
            .collect()
    }
}

/// The numbers of all processes of this machine.
fn numbers() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// What is known of a process behind its name: its state, its parent, its group, and more.
fn stat(id: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(ToOwned::to_owned).collect())
}

/// How many children of a process have ended, and nobody has asked how.
pub(super) fn unburied(parent: u32) -> usize {
    let parent = parent.to_string();
    numbers().filter_map(stat).filter(|stat| stat[0] == "Z" && stat[1] == parent).count()
}

impl Drop for Herd {
    fn drop(&mut self) {
        self.all.iter().for_each(Fake::kill);
    }
}

impl Process {
    /// A process, if it is one of ours. One that has ended has no environment any more.
    fn of(id: i32, root: &Path) -> Option<Self> {
        let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
        let begin = format!("{}={}/", fake::PLACE, root.display());
        let place =
            environment.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(begin.as_bytes()))?;
        let group = stat(id)?.get(2)?.parse().ok()?;
        let words = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let is_server = !words.starts_with(b"/bin/sleep");
        Some(Self { id, group, server: String::from_utf8(place.to_vec()).ok()?, is_server })
    }

    /// Whether its server, the first of its group, is among these.
    pub(super) fn belongs(&self, among: &[Self]) -> bool {
        among.iter().any(|other| other.is_server && other.id == self.group)
    }
}

impl Fake {
    fn new(number: usize, root: &Path) -> Self {
        let kind = if number < CALM { "calm" } else { "wild" };
        let name = format!("{kind}{number}");
        let place = root.join(&name);
        std::fs::create_dir(&place).unwrap();
        // An address of its own, so that nobody else can take its port while it is away.
        let own = Ipv4Addr::new(127, 7, 0, u8::try_from(number).unwrap() + 1);
        let listen = || TcpListener::bind((own, 0)).unwrap();
        let address = number.is_multiple_of(2).then(|| listen().local_addr().unwrap());
        Self { name, place, modern: number % 4 < 2, address, child: Mutex::default() }
    }

    fn era(&self) -> &'static str {
        if self.modern { "modern" } else { "legacy" }
    }

    fn table(&self) -> String {
        let name = &self.name;
        let timeout = if name.starts_with("calm") { 120_000 } else { 1_500 };
        let reach = match self.address {
            Some(address) => format!("url = \"http://{address}/mcp\""),
            None => {
                let program = std::env::current_exe().unwrap();
                let script = format!(
                    "exec 3>&1 1>/dev/null; exec {} --exact chaos::fake::server --nocapture",
                    program.display()
                );
                let (place, era) = (self.place.display(), self.era());
                format!(
                    "command = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n\
                     env = {{ {} = \"{name}\", {} = \"{place}\", {} = \"{era}\" }}",
                    fake::NAME,
                    fake::PLACE,
                    fake::ERA
                )
            }
        };
        format!(
            "[mcp.{name}]\n{reach}\ntimeout = {timeout}\nstartup_timeout = 60000\nprobe_timeout = 60000\n"
        )
    }

    /// Starts a server over HTTP, unless it runs.
    pub(super) fn start(&self) {
        let Some(address) = self.address else { return };
        let mut child = self.child.lock().unwrap();
        if child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none()) {
            return;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "chaos::fake::server", "--nocapture"]).env_clear();
        command.env(fake::NAME, &self.name).env(fake::PLACE, &self.place).env(fake::ERA, self.era());
        command.env(fake::ADDRESS, address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        *child = Some(command.spawn().unwrap());
    }

    /// Kills it; one over HTTP stays away until it is started.
    pub(super) fn kill(&self) {
        let child = self.child.lock().unwrap().take();
        match child {
            Some(mut child) => {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            None => self.signal(Signal::KILL),
        }
    }

    /// Sends a signal to its process, if there is one and it is this server.
    pub(super) fn signal(&self, signal: Signal) {
        let Ok(text) = std::fs::read_to_string(self.place.join("process")) else { return };
        let Some(id) = text.parse().ok().and_then(Pid::from_raw) else { return };
        // Held by this, the number cannot become somebody else's after it was looked at.
        let Ok(held) = pidfd_open(id, PidfdFlags::empty()) else { return };
        let root = self.place.parent().unwrap();
        if Process::of(id.as_raw_nonzero().get(), root).is_some_and(|process| process.server == self.name) {
            // It may have ended by itself at the same moment.
            let _gone = pidfd_send_signal(held, signal);
        }
    }

    /// Lets it start again, or not.
    pub(super) fn stay_out(&self, on: bool) {
        let file = self.place.join("stay-out");
        if on {
            std::fs::write(file, "").unwrap();
        } else {
            // It may not have been there.
            drop(std::fs::remove_file(file));
        }
    }
}

//! A terminal that tests type into and look at: a pair of pseudo-terminals, so that the program sees a real one.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio as Pipe};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::{PATIENCE, Place, Running, until};

/// A terminal of so many columns.
pub(crate) struct Terminal {
    keyboard: File,
    /// What programs open as their terminal.
    device: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let device = std::ffi::OsStr::from_bytes(name.as_bytes());
        let device = OpenOptions::new().read(true).write(true).open(device).unwrap();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&keyboard, size).unwrap();
        let keyboard = File::from(keyboard);
        let screen = Arc::default();
        watch(keyboard.try_clone().unwrap(), Arc::clone(&screen));
        Self { keyboard, device, screen }
    }

    /// One end for a program's standard input, output or error.
    pub(crate) fn end(&self) -> Pipe {
        OwnedFd::from(self.device.try_clone().unwrap()).into()
    }

    /// Starts a program that has nothing but this terminal.
    pub(crate) fn start(&self, mut command: Command) -> Running {
        command.stdin(self.end()).stdout(self.end()).stderr(self.end()).env("TERM", "xterm");
        Running::start(command)
    }

    /// Runs a program to its end: its exit code, and all that the screen got.
    pub(crate) fn run(columns: u16, command: Command) -> (Option<i32>, String) {
        let terminal = Self::new(columns);
        let code = terminal.start(command).code();
        // What was written last is on its way; the mark comes after it.
        (&terminal.device).write_all(b"\0").unwrap();
        until("the screen got everything", || terminal.screen().contains('\0'));
        (code, terminal.screen().trim_end_matches('\0').replace("\r\n", "\n"))
    }

    /// A shell whose controlling terminal this is, with the binary on its search path.
    pub(crate) fn shell(&self, place: &Place) -> Running {
        let mut command = place.command("setsid");
        let binary = std::path::Path::new(crate::process::TOOLGATE).parent().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display());
        command.args(["--ctty", "sh"]).env("PATH", path).env("PS1", "$ ");
        self.start(command)
    }

    /// Types a line.
    pub(crate) fn enter(&self, line: &str) {
        self.press(&format!("{line}\n"));
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &str) {
        (&self.keyboard).write_all(keys.as_bytes()).unwrap();
    }

    /// Everything that was shown so far.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// Waits until the screen shows this; what is shown after it.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if let Some((_, rest)) = screen.split_once(text) {
                return rest.to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "no `{text}` on the screen:\n{screen}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Forgets what was shown.
    pub(crate) fn clear(&self) {
        self.screen.lock().unwrap().clear();
    }
}

/// Reads the screen to its end. A character may be cut in two by where a read ends.
fn watch(mut keyboard: File, screen: Arc<Mutex<String>>) {
    thread::spawn(move || {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = keyboard.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..length]);
            let whole = match std::str::from_utf8(&bytes) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text = String::from_utf8(bytes.drain(..whole).collect()).unwrap();
            screen.lock().unwrap().push_str(&text);
        }
    });
}

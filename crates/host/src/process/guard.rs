//! A guard: a small process that outlives us for a moment, and ends the process groups that we left behind.
//!
//! The kernel ends the programs that we started when we are killed, but not what those started in turn.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

/// It reads which groups there are, and no longer are, until its input ends, which it does when we end.
const SCRIPT: &str = r#"
groups=" "
while read -r what group; do
  case "$what" in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// The groups that are to be ended with us, and who does it.
#[derive(Default)]
struct Guard {
    groups: BTreeSet<i32>,
    process: Option<Child>,
}

static GUARD: Mutex<Guard> = Mutex::new(Guard { groups: BTreeSet::new(), process: None });

/// Has a group ended with us.
pub(super) fn watch(group: Pid) {
    let mut guard = lock();
    guard.groups.insert(group.as_raw_nonzero().get());
    if let Err(error) = guard.say('+', group) {
        // Our own children end with us all the same.
        tracing::warn!(%error, "what programs start will not end with us if we are killed");
    }
}

/// A group is gone; its number may become somebody else's.
pub(super) fn forget(group: Pid) {
    let mut guard = lock();
    if guard.groups.remove(&group.as_raw_nonzero().get())
        && let Err(error) = guard.say('-', group)
    {
        tracing::debug!(%error, "the guard is gone");
    }
}

impl Guard {
    fn say(&mut self, what: char, group: Pid) -> io::Result<()> {
        let line = format!("{what} {}\n", group.as_raw_nonzero());
        let told = match self.process.as_mut().and_then(|process| process.stdin.as_mut()) {
            Some(input) => input.write_all(line.as_bytes()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        if told.is_ok() {
            return Ok(());
        }
        if let Some(mut gone) = self.process.take() {
            // If it were only deaf, the end of its input would end all groups.
            gone.kill()?;
            gone.wait()?;
        }
        if self.groups.is_empty() {
            return Ok(());
        }
        self.process = Some(self.start()?);
        Ok(())
    }

    /// Starts the guard, and tells it all.
    fn start(&self) -> io::Result<Child> {
        #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
        let mut command = Command::new("/bin/sh");
        let mut process = command
            .args(["-c", SCRIPT, "toolgate-guard"])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What ends us by a key on the terminal must not end it.
            .process_group(0)
            .spawn()?;
        let all: String = self.groups.iter().map(|group| format!("+ {group}\n")).collect();
        match process.stdin.as_mut() {
            Some(input) => input.write_all(all.as_bytes())?,
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(process)
    }
}

fn lock() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the script would end, shown instead of ended.
    fn left(lines: &str) -> String {
        let shown = SCRIPT.replace("kill -s KILL -- \"-$group\"", "echo \"-$group\"");
        assert_ne!(shown, SCRIPT);
        #[expect(clippy::disallowed_methods, reason = "the script is run by what runs it")]
        let mut command = Command::new("/bin/sh");
        let mut process =
            command.args(["-c", &shown]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap().replace('\n', " ")
    }

    #[test]
    fn the_guard_ends_what_was_named_and_not_taken_back() {
        #[track_caller]
        fn check(lines: &str, expect: &str) {
            assert_eq!(left(lines), expect, "{lines:?}");
        }
        check("", "");
        check("+ 12\n", "-12 ");
        check("+ 12\n+ 123\n+ 1\n", "-12 -123 -1 ");
        check("+ 12\n+ 123\n- 12\n", "-123 ");
        check("+ 123\n+ 12\n+ 23\n- 12\n", "-123 -23 ");
        check("+ 5\n- 5\n", "");
        check("+ 5\n- 5\n+ 6\n- 6\n+ 7\n", "-7 ");
    }
}

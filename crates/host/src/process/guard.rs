//! A guard: a small process that outlives us for a moment, ends the process groups that we left behind, and removes the
//! folders that were theirs.
//!
//! The kernel ends the programs that we started when we are killed, but not what those started in turn.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

/// It reads which groups and folders there are, and no longer are, until its input ends, which it does when we end.
/// Folders are its arguments, so that their names may hold anything.
const SCRIPT: &str = r#"
groups=" "
while read -r what which; do
  case "$what" in
    +) groups="$groups$which " ;;
    -) groups="${groups%% "$which" *} ${groups#* "$which" }" ;;
    make) set -- "$@" "$which" ;;
    gone) for folder; do shift; [ "$folder" = "$which" ] || set -- "$@" "$folder"; done ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
for folder; do
  for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$folder" && break; sleep 1; done
done
"#;

/// What is to be ended and removed with us, and who does it.
#[derive(Default)]
struct Guard {
    groups: BTreeSet<i32>,
    folders: BTreeSet<String>,
    process: Option<Child>,
}

static GUARD: Mutex<Guard> =
    Mutex::new(Guard { groups: BTreeSet::new(), folders: BTreeSet::new(), process: None });

/// Has a group ended with us.
pub(super) fn watch(group: Pid) {
    let mut guard = lock();
    guard.groups.insert(group.as_raw_nonzero().get());
    if let Err(error) = guard.say("+", &group.as_raw_nonzero().to_string()) {
        // Our own children end with us all the same.
        tracing::warn!(%error, "what programs start will not end with us if we are killed");
    }
}

/// A group is gone; its number may become somebody else's.
pub(super) fn forget(group: Pid) {
    let mut guard = lock();
    if guard.groups.remove(&group.as_raw_nonzero().get())
        && let Err(error) = guard.say("-", &group.as_raw_nonzero().to_string())
    {
        tracing::debug!(%error, "the guard is gone");
    }
}

/// Has a folder removed with us, after all groups have ended.
pub(crate) fn watch_folder(folder: &str) {
    // It is told in a line.
    if folder.contains('\n') {
        return;
    }
    let mut guard = lock();
    guard.folders.insert(folder.to_owned());
    if let Err(error) = guard.say("make", folder) {
        tracing::warn!(%error, "a folder will stay if we are killed");
    }
}

/// A folder is gone.
pub(crate) fn forget_folder(folder: &str) {
    let mut guard = lock();
    if guard.folders.remove(folder)
        && let Err(error) = guard.say("gone", folder)
    {
        tracing::debug!(%error, "the guard is gone");
    }
}

impl Guard {
    fn say(&mut self, what: &str, which: &str) -> io::Result<()> {
        let line = format!("{what} {which}\n");
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
        if self.groups.is_empty() && self.folders.is_empty() {
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
        let groups = self.groups.iter().map(|group| format!("+ {group}\n"));
        let all: String =
            groups.chain(self.folders.iter().map(|folder| format!("make {folder}\n"))).collect();
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
        let shown = shown.replace("rm -rf -- \"$folder\"", "echo \"<$folder>\"");
        assert!(!shown.contains("kill") && !shown.contains("rm "), "{shown}");
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
        check("make /a b\n+ 7\nmake /a*\n", "-7 </a b> </a*> ");
        check("make /a\nmake /a b\nmake /c\ngone /a b\n", "</a> </c> ");
        check("make /a\ngone /a\ngone /a\nmake /b\n", "</b> ");
    }
}

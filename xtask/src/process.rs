//! Other programs: the one place that starts them.

#![expect(clippy::disallowed_methods, reason = "chores run cargo and set-up scripts, outside the product")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// What `cargo run` tells this program about itself. A build script that watches one of these would run
/// again in a cargo that inherits it.
const CARGO_SAID: &[&str] = &[
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_AUTHORS",
    "CARGO_PKG_DESCRIPTION",
    "CARGO_PKG_HOMEPAGE",
    "CARGO_PKG_LICENSE",
    "CARGO_PKG_LICENSE_FILE",
    "CARGO_PKG_NAME",
    "CARGO_PKG_README",
    "CARGO_PKG_REPOSITORY",
    "CARGO_PKG_RUST_VERSION",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// A program to run, with empty standard input.
pub(crate) struct Program {
    command: Command,
    shown: String,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Badly,
    Stopped,
}

impl Program {
    /// A command line in the folder `dir`; words stand between spaces.
    pub(crate) fn new(dir: &Path, line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(dir).stdin(Stdio::null());
        for name in CARGO_SAID {
            command.env_remove(name);
        }
        Self { command, shown: line.to_owned() }
    }

    /// Adds an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds a word, which may hold spaces.
    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&word.as_ref().to_string_lossy());
        self.command.arg(word);
        self
    }

    /// Gives it a file as its standard input.
    pub(crate) fn input(mut self, file: std::fs::File) -> Self {
        self.command.stdin(file);
        self
    }

    /// Runs it to its end; what it prints goes where ours goes.
    pub(crate) fn run(mut self) -> Result<()> {
        let status = self.command.status().with_context(|| format!("cannot start `{}`", self.shown))?;
        if !status.success() {
            bail!("`{}` failed: {status}", self.shown);
        }
        Ok(())
    }

    /// Runs it to its end, and gives what it printed to stdout.
    pub(crate) fn read(mut self) -> Result<String> {
        self.command.stderr(Stdio::inherit());
        let output = self.command.output().with_context(|| format!("cannot start `{}`", self.shown))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", self.shown, output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{}` printed bytes, not text", self.shown))
    }

    /// Runs it with all that it prints in a file, until it ends or this is enough of it.
    pub(crate) fn logged(mut self, to: std::fs::File, is_enough: impl Fn() -> bool) -> Result<Ended> {
        let cannot = || format!("cannot start `{}`", self.shown);
        let mut child = self.command.stderr(to.try_clone()?).stdout(to).spawn().with_context(cannot)?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(if status.success() { Ended::Well } else { Ended::Badly });
            }
            if is_enough() {
                child.kill()?;
                child.wait()?;
                return Ok(Ended::Stopped);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether it can be run at all; it prints nothing.
    pub(crate) fn works(mut self) -> bool {
        let status = self.command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_can_be_read() {
        assert_eq!(Program::new(Path::new("."), "echo two words").read().unwrap(), "two words\n");
    }

    #[test]
    fn a_failure_names_the_command_line() {
        let error = Program::new(Path::new("."), "false --now").run().unwrap_err();
        assert!(error.to_string().starts_with("`false --now` failed"), "{error}");
    }

    #[test]
    fn standard_input_is_empty() {
        assert_eq!(Program::new(Path::new("."), "cat").read().unwrap(), "");
    }

    #[test]
    fn a_program_is_stopped_when_it_is_enough() {
        #[track_caller]
        fn check(line: &str, is_enough: bool, expect: Ended) {
            let to = tempfile::tempfile().unwrap();
            let ended = Program::new(Path::new("."), line).logged(to, || is_enough);
            assert_eq!(ended.unwrap(), expect, "{line}");
        }
        check("true", false, Ended::Well);
        check("false", false, Ended::Badly);
        check("sleep 600", true, Ended::Stopped);
    }

    #[test]
    fn a_missing_program_does_not_work() {
        assert!(Program::new(Path::new("."), "true").works());
        assert!(!Program::new(Path::new("."), "no-such-program-here").works());
    }
}

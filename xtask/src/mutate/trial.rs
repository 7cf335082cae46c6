//! A trial: tests are built and run, and it is seen which of them fail.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::{Ended, Program};

/// Tests that a mutant makes wait for ever are stopped.
const LONGEST: Duration = Duration::from_secs(300);

/// How long the others may still take after a test failed: most end, and clean up behind themselves.
const GRACE: Duration = Duration::from_secs(20);

/// What became of some tests.
pub(super) enum Verdict {
    /// All passed.
    Green,
    /// These failed.
    Red(Vec<String>),
    /// They did not end.
    Stuck,
}

/// Where trials are made.
pub(super) struct Bench {
    copy: PathBuf,
    target: PathBuf,
}

/// What cargo says of something that it built.
#[derive(Deserialize)]
struct Built {
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Bench {
    pub(super) fn new(root: &Path, copy: &Path) -> Self {
        Self { copy: copy.to_owned(), target: root.join("target/mutate") }
    }

    /// Tries one line of tests after the other, up to the first that is not green.
    pub(super) fn first_red(&self, lines: &[&str]) -> Result<Verdict> {
        for line in lines {
            match self.try_all(line)? {
                Verdict::Green => {}
                other @ (Verdict::Red(_) | Verdict::Stuck) => return Ok(other),
            }
        }
        Ok(Verdict::Green)
    }

    /// Builds and runs tests: what `cargo test` takes, and behind ` -- ` what the test programs take.
    pub(super) fn try_all(&self, line: &str) -> Result<Verdict> {
        let (what, filter) = line.split_once(" -- ").unwrap_or((line, ""));
        for (folder, program) in self.build(what)? {
            let run = Program::new(&folder, &format!("{} {filter}", program.display()));
            match self.run(run)? {
                Verdict::Green => {}
                other @ (Verdict::Red(_) | Verdict::Stuck) => return Ok(other),
            }
        }
        Ok(Verdict::Green)
    }

    fn run(&self, program: Program) -> Result<Verdict> {
        let log = self.target.join("trial.log");
        let to = File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
        let failed = || failures(&String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()));
        let (began, first) = (Instant::now(), Cell::new(None));
        let is_enough = || {
            if first.get().is_none() && !failed().is_empty() {
                first.set(Some(Instant::now()));
            }
            began.elapsed() > LONGEST || first.get().is_some_and(|first| first.elapsed() > GRACE)
        };
        Ok(match (program.logged(to, is_enough)?, failed()) {
            (Ended::Well, _) => Verdict::Green,
            (Ended::Stopped, none) if none.is_empty() => Verdict::Stuck,
            (Ended::Badly | Ended::Stopped, failed) => Verdict::Red(failed),
        })
    }

    /// Builds test programs, and tells the folder that each runs in. What does not compile is no mutant.
    fn build(&self, what: &str) -> Result<Vec<(PathBuf, PathBuf)>> {
        let line =
            format!("cargo test --quiet --locked --no-run --message-format json-render-diagnostics {what}");
        let cargo = Program::new(&self.copy, &line)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0");
        let said = cargo.read().context(
            "the tests do not compile; where they do without a mutant, mend its place in the table",
        )?;
        let mut programs = Vec::new();
        for message in said.lines() {
            let built: Built = serde_json::from_str(message).context("cargo said what is no message")?;
            let is_test = built.profile.is_some_and(|profile| profile.test);
            let (Some(manifest), Some(program)) = (built.manifest_path, built.executable) else { continue };
            if let Some(folder) = manifest.parent().filter(|_| is_test) {
                programs.push((folder.to_owned(), program));
            }
        }
        if programs.is_empty() {
            bail!("`cargo test {what}` has no tests");
        }
        Ok(programs)
    }
}

/// The names of tests that failed, by what a test program printed.
fn failures(log: &str) -> Vec<String> {
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.trim_end_matches(" - should panic").to_owned())
    };
    log.lines().filter_map(failed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_known_by_name() {
        #[track_caller]
        fn check(log: &str, expect: &[&str]) {
            assert_eq!(failures(log), expect);
        }
        check("test a::b ... ok\ntest a::c ... FAILED\ntest d - should panic ... FAILED\n", &["a::c", "d"]);
        check("test result: FAILED. 1 passed; 0 failed\nthread 'x' panicked", &[]);
        check("", &[]);
    }
}

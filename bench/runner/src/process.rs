//! What the kernel knows of a process: its processor time and its memory, with those of its children.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::time::ClockId;
use nix::unistd::Pid;

/// The processor time, in user and kernel mode, that a process and its children have used.
///
/// It is the sum of `utime` and `stime` in `/proc/PID/stat`, but in nanoseconds: those come in hundredths of a second,
/// which is a percent of what some servers use in a whole measurement.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    cpu_without(pid, None)
}

/// The same, without children of this name.
fn cpu_without(pid: u32, name: Option<&str>) -> Result<Duration> {
    let mut used = Duration::ZERO;
    for pid in family(pid) {
        if name.is_some_and(|name| is_called(pid, name)) {
            continue;
        }
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid.try_into()?))?;
        used += Duration::from(clock.now()?);
    }
    Ok(used)
}

/// Processor time that was used, and which share of it in kernel mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) all: Duration,
    user: u64,
    kernel: u64,
}

impl Spent {
    /// What a process and its children have used, without children of this name.
    pub(crate) fn of(pid: u32, without: &str) -> Result<Self> {
        let mut spent = Self { all: cpu_without(pid, Some(without))?, user: 0, kernel: 0 };
        for pid in family(pid).into_iter().filter(|pid| !is_called(*pid, without)) {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
            let (user, kernel) = modes(&stat).with_context(|| format!("cannot read `{stat}`"))?;
            (spent.user, spent.kernel) = (spent.user + user, spent.kernel + kernel);
        }
        Ok(spent)
    }

    /// What was used since: all, and how much of it in kernel mode. That comes in hundredths of a second, so it is a
    /// share, which is right for many calls.
    pub(crate) fn since(&self, before: &Self) -> (Duration, Duration) {
        let all = self.all - before.all;
        let (user, kernel) = (self.user - before.user, self.kernel - before.kernel);
        (all, all.mul_f64(kernel as f64 / (user + kernel).max(1) as f64))
    }
}

/// The time in user and in kernel mode of a line of `stat`, whose second word may hold spaces and parentheses.
fn modes(stat: &str) -> Option<(u64, u64)> {
    let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse);
    Some((words.next()?.ok()?, words.next()?.ok()?))
}

/// The resident memory of a process and its children, in bytes.
pub(crate) fn memory(pid: u32) -> Result<u64> {
    family(pid).into_iter().map(|pid| held(pid, "Rss")).sum()
}

/// The same of those whose names hold none of these words, by a measure of the kernel: `Pss` counts what processes share
/// once, `Anonymous` nothing that stands in a file.
pub(crate) fn memory_without(pid: u32, words: &[&str], measure: &str) -> Result<u64> {
    let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let is_meant = |pid: &u32| !words.iter().any(|word| name(pid).contains(word));
    family(pid).into_iter().filter(is_meant).map(|pid| held(pid, measure)).sum()
}

fn held(pid: u32, measure: &str) -> Result<u64> {
    // `status` counts in batches; this one is exact.
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    bytes(&rollup, measure).with_context(|| format!("cannot read `{rollup}`"))
}

fn bytes(rollup: &str, measure: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix(measure)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

fn is_called(pid: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|found| found.trim_end() == name)
}

/// A process and all below it.
fn family(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        all.extend(children(*pid));
        next += 1;
    }
    all
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes() {
        let rollup = "00-ff ---p 00 00:00 0 [rollup]\nRss:                12 kB\nPss: 3 kB\nPss_Anon: 2 kB\n";
        assert_eq!((bytes(rollup, "Rss"), bytes(rollup, "Pss")), (Some(12_288), Some(3072)));
        assert_eq!(bytes(rollup, "Anonymous"), None);
    }

    #[test]
    fn modes_are_found_behind_any_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 100 0 0 0 12 34 0 0 20 0 1 0 5";
        assert_eq!(modes(stat), Some((12, 34)));
        assert_eq!(modes("7 (a) S 1"), None);
    }

    #[test]
    fn this_process_can_be_read() {
        assert!(cpu(std::process::id()).unwrap() > Duration::ZERO);
        assert!(memory(std::process::id()).unwrap() > 0);
    }
}

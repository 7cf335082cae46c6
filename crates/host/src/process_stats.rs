//! What this process uses, read from `/proc` when someone asks; elsewhere nothing is known.

use std::fs;

/// What this process uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessStats {
    /// When it started, in seconds since 1970.
    pub start_seconds: f64,
    /// For how long it has been computing, in user and kernel mode, on all threads.
    pub cpu_seconds: f64,
    /// How much memory it holds.
    pub resident_bytes: u64,
    /// How many file descriptors are open.
    pub open_fds: u64,
    /// How many threads it has.
    pub threads: u64,
}

impl ProcessStats {
    /// What this process uses now; nothing where there is no `/proc`.
    pub fn read() -> Option<Self> {
        let stat = Stat::parse(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let boot = boot_seconds(&fs::read_to_string("/proc/stat").ok()?)?;
        let open_fds = fs::read_dir("/proc/self/fd").ok()?.count() as u64;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Some(Self {
            start_seconds: boot as f64 + stat.started as f64 / ticks,
            cpu_seconds: stat.cpu as f64 / ticks,
            resident_bytes: stat.resident * rustix::param::page_size() as u64,
            // The listing itself has one open.
            open_fds: open_fds.saturating_sub(1),
            threads: stat.threads,
        })
    }
}

/// How much memory the processes of a group hold together, and how many they are; what they share counts for each.
/// Nothing where there is no `/proc`.
pub fn group_usage(group: u32) -> Option<(u64, usize)> {
    let page = rustix::param::page_size() as u64;
    let mut usage = (0, 0);
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, behind)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        // State, parent, group; a zombie holds nothing any more.
        let is_of_group = fields.get(2).and_then(|text| text.parse().ok()) == Some(group);
        if is_of_group && fields.first() != Some(&"Z") {
            let pages: u64 = fields.get(21).and_then(|text| text.parse().ok()).unwrap_or(0);
            usage = (usage.0 + pages * page, usage.1 + 1);
        }
    }
    Some(usage)
}

/// The fields of `/proc/self/stat` that matter: ticks, pages and numbers.
#[derive(Debug, PartialEq)]
struct Stat {
    cpu: u64,
    threads: u64,
    started: u64,
    resident: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name of the program may hold anything, so the fields are counted from behind it.
        let (_, behind) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        // The first field behind the name is the third of `proc_pid_stat(5)`.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu: field(14)? + field(15)?,
            threads: field(20)?,
            started: field(22)?,
            resident: field(24)?,
        })
    }
}

fn boot_seconds(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let line = "7 (a) b (c) S 1 7 7 0 -1 4194304 10 0 0 0 30 12 0 0 20 0 5 0 1234 99999 250 18446744073709551615 1";
        let expect = Stat { cpu: 42, threads: 5, started: 1234, resident: 250 };
        assert_eq!(Stat::parse(line), Some(expect));
        for broken in ["", "7 (a", "7 (a) S 1", "7 (a) S x x x x x x x x x x x x x x x x x x x x x x x x"] {
            assert_eq!(Stat::parse(broken), None, "{broken}");
        }
        assert_eq!(boot_seconds("cpu 1 2\nbtime 1700000000\nprocesses 3\n"), Some(1_700_000_000));
        assert_eq!(boot_seconds("cpu 1 2\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_group_of_this_process_is_known() {
        let group = rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs();
        let (bytes, processes) = group_usage(group).unwrap();
        assert!(bytes > 100_000 && processes >= 1, "{bytes} {processes}");
        assert_eq!(group_usage(u32::MAX), Some((0, 0)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_known() {
        let before = ProcessStats::read().unwrap();
        assert!(before.threads >= 1 && before.open_fds >= 3 && before.resident_bytes > 100_000, "{before:?}");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        assert!(before.start_seconds > 1e9 && before.start_seconds <= now + 5.0, "{before:?} at {now}");
        assert!(ProcessStats::read().unwrap().cpu_seconds >= before.cpu_seconds);
    }
}

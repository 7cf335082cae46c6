//! The machine on which it was measured.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::Serialize;

/// What figures depend on.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) cpu: String,
    pub(crate) memory_gb: f64,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    /// The commit, with a `+` if files differ from it.
    pub(crate) commit: String,
    /// Programs that ran or waited, over one, five and fifteen minutes, before the first measurement.
    pub(crate) load: String,
}

impl Machine {
    pub(crate) fn look() -> Result<Self> {
        let cpu_info = fs::read_to_string("/proc/cpuinfo")?;
        let memory = fs::read_to_string("/proc/meminfo")?;
        let load = fs::read_to_string("/proc/loadavg")?;
        let changed = !said("git", &["status", "--porcelain", "crates", "Cargo.lock"])?.is_empty();
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            cpu: value(&cpu_info, "model name").unwrap_or("unknown").to_owned(),
            memory_gb: value(&memory, "MemTotal")
                .and_then(|text| text.strip_suffix(" kB")?.parse::<f64>().ok())
                .map_or(f64::NAN, |kb| kb * 1024.0 / 1e9),
            kernel: format!("Linux {}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim()),
            rustc: said("rustc", &["--version"])?,
            commit: said("git", &["rev-parse", "--short", "HEAD"])? + if changed { "+" } else { "" },
            load: load.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
        })
    }
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot start `{program}`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

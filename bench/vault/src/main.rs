//! Makes a vault of notes, and measures what searching it costs: by the pack's own tool behind a hub, or by a plain scan.
//!
//! Each is a process of its own, so that the memory it takes is its own. It knows neither fronts nor policy, and judges nothing.

mod index;
mod notes;
mod query;
mod scan;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "usage: vault-bench make FOLDER NOTES | index FOLDER REPEATS | scan FOLDER REPEATS";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder, count] => print(&notes::make(Path::new(folder), count.parse()?)?),
        ["index", folder, repeats] => print(&index::run(Path::new(folder), repeats.parse()?)?),
        ["scan", folder, repeats] => print(&scan::run(Path::new(folder), repeats.parse()?)?),
        _ => bail!(USAGE),
    }
}

#[expect(clippy::print_stdout, reason = "the benchmark reads it there")]
fn print(measured: &impl serde::Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(measured)?);
    Ok(())
}

/// The memory that this process takes, in bytes.
fn resident() -> Result<u64> {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:")).context("no `Rss`")?;
    let kb: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kb * 1024)
}

//! The rounds: index and scan, one after the other, over the same notes.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::sample::median;

/// The notes that were made.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Made {
    pub(crate) notes: u64,
    pub(crate) bytes: u64,
}

/// What answering a question took in one round.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Answered {
    pub(crate) name: String,
    pub(crate) found: usize,
    pub(crate) ms: Vec<f64>,
}

/// What the index took in one round.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Index {
    pub(crate) notes: u64,
    pub(crate) build_ms: f64,
    pub(crate) before_bytes: u64,
    pub(crate) built_bytes: u64,
    pub(crate) after_bytes: u64,
    pub(crate) queries: Vec<Answered>,
    pub(crate) changed_ms: Vec<f64>,
}

/// What the scan took in one round.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Scan {
    pub(crate) after_bytes: u64,
    pub(crate) queries: Vec<Answered>,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) made: Made,
    pub(crate) index: Vec<Index>,
    pub(crate) scan: Vec<Scan>,
}

/// Makes the notes, and measures every round.
pub(crate) fn rounds(plan: &Plan) -> Result<Measured> {
    let place = tempfile::tempdir()?;
    let folder = place.path();
    let made = by(plan, "make", folder, plan.notes)?;
    let mut measured = Measured { made, index: Vec::new(), scan: Vec::new() };
    // A scan takes long, and its time hardly varies.
    let scans = plan.repeats.div_ceil(10) as u64;
    for round in 0..plan.rounds {
        let index: Index = by(plan, "index", folder, plan.repeats as u64)?;
        ensure!(index.notes == plan.notes, "{} notes were indexed instead of {}", index.notes, plan.notes);
        let scan: Scan = by(plan, "scan", folder, scans)?;
        eprintln!(
            "round {}/{} built in {:.0} ms, a warm search {:.2} ms, a scan {:.0} ms, {:.1} MB",
            round + 1,
            plan.rounds,
            index.build_ms,
            median(index.queries.iter().flat_map(|query| query.ms.iter().copied())),
            median(scan.queries.iter().flat_map(|query| query.ms.iter().copied())),
            index.after_bytes.saturating_sub(index.before_bytes) as f64 / 1e6,
        );
        measured.index.push(index);
        measured.scan.push(scan);
    }
    Ok(measured)
}

/// Lets the program do something, and reads what it says.
fn by<T: for<'a> Deserialize<'a>>(plan: &Plan, what: &str, folder: &Path, number: u64) -> Result<T> {
    let output = Command::new(&plan.program).arg(what).arg(folder).arg(number.to_string()).output()?;
    ensure!(output.status.success(), "`{what}` failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

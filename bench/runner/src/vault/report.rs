//! The report of the vault, and its goals.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::Plan;
use super::measure::{Answered, Index, Measured};
use crate::goal::Goal;
use crate::machine::Machine;
use crate::report::{begin, goals, raw_data, save};
use crate::sample::median;

/// How long a warm search may take.
const WARM_MS: f64 = 50.0;

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes report and raw data, and gives the text of the first.
pub(crate) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What searching a vault costs\n\n");
    head(&mut out, plan, machine, measured)?;
    goals(&mut out, &judge(measured))?;
    table(&mut out, measured)?;
    figures(&mut out, measured)?;
    save(&plan.out, &out, &Raw { command: &plan.command, machine, measured })?;
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine, measured: &Measured) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    writeln!(out, "- Toolgate's crates at `{commit}`, {rustc}")?;
    writeln!(
        out,
        "- {} notes in 200 folders, {:.1} MB, made by rule: front matter, headings, tags, links, and words that come as often as those of a \
         language do; one in ten has a line of Japanese",
        measured.made.notes,
        measured.made.bytes as f64 / 1e6,
    )?;
    writeln!(
        out,
        "- *Index*: `vault_search` at a hub without a policy and a front, with excerpts of the ten best notes, and with all that it does before \
         to stay right. *Scan*: every file is read, made lower case and searched for the words, without a rank or an excerpt. Files are in the \
         system's cache for both"
    )?;
    writeln!(
        out,
        "- Rounds: {}, each in new processes, index and scan in turns; every question {} times a round. Medians, and the 99th percentile, over \
         all rounds. MB are powers of ten",
        plan.rounds, plan.repeats
    )?;
    raw_data(out, &plan.out)?;
    Ok(())
}

fn judge(measured: &Measured) -> Vec<Goal> {
    let questions = || measured.index.first().into_iter().flat_map(|index| &index.queries);
    let slowest = |figure: fn(&[f64]) -> f64| {
        let figures = questions().map(|query| figure(&times(indexed(measured), &query.name)));
        figures.fold(f64::NAN, f64::max)
    };
    vec![
        Goal::at_most("a warm search, the slowest question, median".into(), WARM_MS, " ms", slowest(middle)),
        Goal::at_most(
            "a warm search, the slowest question, 99th percentile".into(),
            WARM_MS,
            " ms",
            slowest(late),
        ),
    ]
}

fn table(out: &mut String, measured: &Measured) -> Result<()> {
    out.push_str(
        "\n## Warm searches\n\n| question | notes found | index, median ms | 99 % within ms | scan, median ms | scan to index |\n|---|---|---|---|---|---|\n",
    );
    let Some(first) = measured.index.first() else { return Ok(()) };
    for Answered { name, found, .. } in &first.queries {
        let ours = times(indexed(measured), name);
        let scan = times(measured.scan.iter().map(|scan| scan.queries.as_slice()), name);
        let (scanned, ratio) = match middle(&scan) {
            scan if scan.is_nan() => (String::new(), String::new()),
            scan => (format!("{scan:.0}"), format!("{:.0}×", scan / middle(&ours))),
        };
        writeln!(
            out,
            "| {name} | {found} | {:.2} | {:.2} | {scanned} | {ratio} |",
            middle(&ours),
            late(&ours)
        )?;
    }
    Ok(())
}

fn figures(out: &mut String, measured: &Measured) -> Result<()> {
    let of = |figure: fn(&Index) -> f64| median(measured.index.iter().map(figure));
    let memory = of(|index| index.after_bytes.saturating_sub(index.before_bytes) as f64 / 1e6);
    let built = of(|index| index.built_bytes.saturating_sub(index.before_bytes) as f64 / 1e6);
    let text = measured.made.bytes as f64 / 1e6;
    let changed: Vec<f64> =
        measured.index.iter().flat_map(|index| index.changed_ms.iter().copied()).collect();
    let scan = median(measured.scan.iter().map(|scan| scan.after_bytes as f64 / 1e6));
    out.push_str("\n## The index\n\n| what | measured |\n|---|---|\n");
    writeln!(out, "| from nothing to the first answer | {:.0} ms |", of(|index| index.build_ms))?;
    writeln!(out, "| memory it adds to the process, after building | {built:.1} MB |")?;
    writeln!(
        out,
        "| memory it adds to the process, after all searches | {memory:.1} MB, {:.2} of the text |",
        memory / text
    )?;
    writeln!(
        out,
        "| a search right after a note was replaced | {:.2} ms, 99 % within {:.2} ms |",
        middle(&changed),
        late(&changed)
    )?;
    writeln!(out, "| the scan's process as a whole | {scan:.1} MB |")?;
    Ok(())
}

fn indexed(measured: &Measured) -> impl Iterator<Item = &[Answered]> {
    measured.index.iter().map(|index| index.queries.as_slice())
}

/// Every time that a question took, over all rounds.
fn times<'a>(rounds: impl Iterator<Item = &'a [Answered]>, name: &str) -> Vec<f64> {
    rounds.flatten().filter(|query| query.name == name).flat_map(|query| query.ms.iter().copied()).collect()
}

fn middle(times: &[f64]) -> f64 {
    median(times.iter().copied())
}

/// What 99 of 100 do not exceed.
fn late(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_99th_percentile_is_one_of_the_times() {
        let times: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((late(&times).to_bits(), late(&[]).is_nan()), (198.0_f64.to_bits(), true));
    }
}

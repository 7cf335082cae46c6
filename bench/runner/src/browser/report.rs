//! The report of a page in both servers.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::measure::{Measured, Round};
use super::{Plan, page};
use crate::goal::Goal;
use crate::machine::Machine;
use crate::report::{begin, goals, raw_data, save};
use crate::sample::median;

type Figure = fn(&Round) -> f64;

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes report and raw data, and gives the text of the first.
pub(super) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What a page in a browser costs\n\n");
    head(&mut out, plan, machine, measured)?;
    goals(&mut out, &judge(measured))?;
    table(&mut out, measured)?;
    save(&plan.out, &out, &Raw { command: &plan.command, machine, measured })?;
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine, measured: &Measured) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    writeln!(
        out,
        "- Toolgate at `{commit}`, {rustc}; `@playwright/mcp` {} on Node 22; both start the same `{}`",
        measured.version, measured.chromium
    )?;
    writeln!(
        out,
        "- One page with a table of {} rows, a form and a button, served on this machine. Each round starts both servers \
         afresh, one after the other, on standard streams; rounds: {}, in each of which the page is looked at and the button \
         clicked {} times. Medians over rounds; ratios are those of the rounds. *First page* includes the start of the \
         browser. Memory is that of the server itself, without its browser (PSS); what is in no file is told besides. By \
         the time it is measured Toolgate has given back what of its program only the start needed; the kernel keeps that \
         in its cache of files for as long as it likes. Definitions are those of all tools that are on by default, without \
         the schemas of their output",
        page::ROWS,
        plan.rounds,
        plan.times
    )?;
    raw_data(out, &plan.out)?;
    Ok(())
}

fn judge(measured: &Measured) -> Vec<Goal> {
    let goal = |what: &str, limit: f64, figure: Figure| {
        Goal::at_most(format!("{what}, to theirs"), limit, "×", ratio(measured, figure))
    };
    vec![
        goal("bytes of a snapshot", 0.30, |round| round.snapshot_bytes),
        goal("bytes of all definitions", 0.9, |round| round.list_bytes),
        goal("memory of the server", 0.15, |round| round.memory_bytes),
    ]
}

fn table(out: &mut String, measured: &Measured) -> Result<()> {
    let rows: [(&str, Figure); 10] = [
        ("start to first answer, ms", |round| round.start_ms),
        ("first page, ms", |round| round.first_ms),
        ("the page again, ms", |round| round.again_ms),
        ("snapshot, ms", |round| round.snapshot_ms),
        ("click, ms", |round| round.click_ms),
        ("snapshot, bytes", |round| round.snapshot_bytes),
        ("definitions, bytes", |round| round.list_bytes),
        ("tools", |round| round.tools),
        ("memory of the server, MB", |round| round.memory_bytes / 1e6),
        ("of that not its program, MB", |round| round.own_bytes / 1e6),
    ];
    out.push_str("\n| | Toolgate | `@playwright/mcp` | ratio |\n|---|---|---|---|\n");
    for (label, figure) in rows {
        let of = |rounds: &[Round]| median(rounds.iter().map(figure));
        let (ours, theirs) = (of(&measured.toolgate), of(&measured.playwright));
        writeln!(out, "| {label} | {ours:.1} | {theirs:.1} | {:.2} |", ratio(measured, figure))?;
    }
    Ok(())
}

/// Ours to theirs: the median over rounds, each of which compares what was measured at about the same time.
fn ratio(measured: &Measured, figure: Figure) -> f64 {
    median(
        measured
            .toolgate
            .iter()
            .zip(&measured.playwright)
            .map(|(ours, theirs)| figure(ours) / figure(theirs)),
    )
}

//! The report of prompts both ways.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::Plan;
use super::measure::{Measured, Pair};
use crate::machine::Machine;
use crate::report::{begin, raw_data, save};
use crate::sample::median;

type Figure = fn(&Pair) -> f64;

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes report and raw data, and gives the text of the first.
pub(super) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What Toolgate adds to a prompt\n\n");
    head(&mut out, plan, machine, measured)?;
    table(&mut out, measured)?;
    save(&plan.out, &out, &Raw { command: &plan.command, machine, measured })?;
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine, measured: &Measured) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    writeln!(out, "- Toolgate at `{commit}`, {rustc}; OpenCode {}", measured.version)?;
    writeln!(
        out,
        "- One OpenCode, whose model is a server of the benchmark that answers at once. *Direct*: a new session and a prompt \
         in it, which waits for the answer, at OpenCode's own API. *Toolgate*: the same as one call of `opencode_run` over \
         HTTP, which follows the events of the turn. {} prompts each way, in turns, after a warm-up; a connection for each \
         request. CPU is Toolgate's alone, user and kernel time",
        measured.pairs.len()
    )?;
    raw_data(out, &plan.out)?;
    Ok(())
}

fn table(out: &mut String, measured: &Measured) -> Result<()> {
    let of = |figure: fn(&Pair) -> f64| -> Vec<f64> {
        let mut all: Vec<f64> = measured.pairs.iter().map(figure).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    out.push_str("\n| way | least ms | median ms | p90 ms |\n|---|---|---|---|\n");
    let rows: [(&str, Figure); 3] = [
        ("Direct", |pair| pair.direct_ms),
        ("Toolgate", |pair| pair.toolgate_ms),
        ("Toolgate less direct, pair by pair", |pair| pair.toolgate_ms - pair.direct_ms),
    ];
    for (label, figure) in rows {
        let all = of(figure);
        let (least, late) = (all[0], all[(all.len() - 1) * 9 / 10]);
        writeln!(out, "| {label} | {least:.1} | {:.1} | {late:.1} |", median(all.iter().copied()))?;
    }
    writeln!(out, "\nCPU of Toolgate a prompt: {:.2} ms", measured.cpu_ms)?;
    Ok(())
}

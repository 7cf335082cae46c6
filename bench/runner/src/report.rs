//! The report for people, and the raw data beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::case::{Case, Way};
use crate::goal::{Goal, judge, of, ratio};
use crate::idle::Idle;
use crate::machine::Machine;
use crate::plan::{IN_FLIGHT, Plan};
use crate::sample::{Sample, median};
use crate::start::Start;

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) calls: Vec<Sample>,
    pub(crate) starts: Vec<Start>,
    pub(crate) sessions: Vec<Idle>,
}

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes both files, and gives the text of the first.
pub(crate) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let text = text(plan, machine, measured)?;
    save(&plan.out, &text, &Raw { command: &plan.command, machine, measured })?;
    Ok(text)
}

/// The beginning of a report: what was run, and where.
pub(crate) fn begin(out: &mut String, quick: bool, command: &str, machine: &Machine) -> Result<()> {
    if quick {
        out.push_str("**A quick run: it shows that the benchmark works, and nothing to quote.**\n\n");
    }
    let Machine { cores, cpu, memory_gb, kernel, load, .. } = machine;
    writeln!(out, "    {command}\n")?;
    writeln!(
        out,
        "- Machine: {cores} cores ({cpu}), {memory_gb:.1} GB, {kernel}; load average before: {load}"
    )?;
    Ok(())
}

/// Says where the raw data of a report is.
pub(crate) fn raw_data(out: &mut String, report: &Path) -> Result<()> {
    let raw = report.with_extension("json");
    let raw = raw.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    writeln!(out, "- Raw data: [`{raw}`]({raw})")?;
    Ok(())
}

/// How what is measured was built.
pub(crate) fn build(trained: bool) -> &'static str {
    if trained { "built by a profile of calls like these" } else { "release build" }
}

/// Writes a report, and its raw data beside it.
pub(crate) fn save(out: &Path, text: &str, raw: &impl Serialize) -> Result<()> {
    let raw = serde_json::to_string_pretty(raw)? + "\n";
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder)?;
    }
    for (path, text) in [(out, text), (&out.with_extension("json"), &raw)] {
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

fn text(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What a call costs at the front\n\n");
    head(&mut out, plan, machine)?;
    goals(&mut out, &judge(measured))?;
    let http = |case: &Case| matches!(case.way, Way::Http(_) | Way::Session(_));
    table(&mut out, plan, measured, &format!("HTTP, {IN_FLIGHT} keep-alive connections"), http)?;
    table(&mut out, plan, measured, "stdio, one call at a time", |case| case.way == Way::Sequential)?;
    let pipelined = |case: &Case| case.way == Way::Pipelined;
    table(&mut out, plan, measured, &format!("stdio, {IN_FLIGHT} calls in flight"), pipelined)?;
    if !measured.starts.is_empty() {
        starts(&mut out, &measured.starts)?;
    }
    if !measured.sessions.is_empty() {
        sessions(&mut out, &measured.sessions)?;
    }
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    writeln!(out, "- Toolgate at `{commit}`, release build, {rustc}")?;
    writeln!(
        out,
        "- `tools/call` of an echo tool with `{{\"message\":\"hello world\"}}`; rounds: {}, each of up to {} calls or {} s \
         a server after a warm-up, in rotated order; a fresh process each time; medians over rounds",
        plan.rounds,
        plan.load.requests,
        plan.load.time.as_secs()
    )?;
    out.push_str(
        "- The load comes from one thread on the same machine, so calls a second and latencies are of both together. \
         CPU is the server's alone (user and kernel time of the process and its children): it is the figure to compare\n\
         - Ratios are medians over rounds, each to the other's CPU in the same round. MB and kB are powers of ten\n",
    );
    raw_data(out, &plan.out)?;
    Ok(())
}

/// The table of promises, if there are any.
pub(crate) fn goals(out: &mut String, goals: &[Goal]) -> Result<()> {
    if goals.is_empty() {
        return Ok(());
    }
    out.push_str("\n## Goals\n\n| goal | limit | measured | |\n|---|---|---|---|\n");
    for goal in goals {
        let (verdict, sign) =
            (if goal.holds() { "holds" } else { "**missed**" }, if goal.inclusive { "≤" } else { "<" });
        let (Goal { what, limit, unit, .. }, measured) = (goal, goal.measured);
        writeln!(out, "| {what} | {sign} {limit}{unit} | {measured:.2}{unit} | {verdict} |")?;
    }
    Ok(())
}

fn table(
    out: &mut String,
    plan: &Plan,
    measured: &Measured,
    title: &str,
    is_in: impl Fn(&Case) -> bool,
) -> Result<()> {
    let samples = &measured.calls;
    let mut cases = plan.cases.iter().filter(|case| is_in(case)).peekable();
    if cases.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "\n## {title}\n")?;
    out.push_str(
        "| server | calls/s | p50 ms | p99 ms | CPU µs/call | to echo | to Rust SDK | MB idle | MB after |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for case in cases {
        let middle = |figure: fn(&Sample) -> f64| median(of(samples, case.name).map(figure));
        writeln!(
            out,
            "| {} | {:.0} | {:.2} | {:.2} | {:.1} | {} | {} | {:.1} | {:.1} |",
            case.label,
            middle(|sample| sample.per_second),
            middle(|sample| sample.p50_us / 1e3),
            middle(|sample| sample.p99_us / 1e3),
            middle(|sample| sample.cpu_us),
            times(ratio(samples, case, case.floor)),
            times(ratio(samples, case, case.sdk)),
            middle(|sample| sample.idle_bytes as f64 / 1e6),
            middle(|sample| sample.loaded_bytes as f64 / 1e6),
        )?;
    }
    Ok(())
}

fn times(ratio: f64) -> String {
    if ratio.is_nan() { String::new() } else { format!("{ratio:.2}") }
}

fn starts(out: &mut String, starts: &[Start]) -> Result<()> {
    out.push_str("\n## Start to first answer on stdio, from the second start on\n\n");
    out.push_str("| server | starts | least ms | median ms |\n|---|---|---|---|\n");
    for Start { label, ms, .. } in starts {
        let least = ms.iter().copied().fold(f64::INFINITY, f64::min);
        writeln!(out, "| {label} | {} | {least:.1} | {:.1} |", ms.len(), median(ms.iter().copied()))?;
    }
    Ok(())
}

fn sessions(out: &mut String, sessions: &[Idle]) -> Result<()> {
    out.push_str("\n## Idle legacy sessions, without a stream\n\n");
    out.push_str("| server | sessions | MB before | MB after | kB each |\n|---|---|---|---|---|\n");
    for idle in sessions {
        let (before, after) = (idle.before_bytes as f64 / 1e6, idle.after_bytes as f64 / 1e6);
        writeln!(
            out,
            "| {} | {} | {before:.1} | {after:.1} | {:.2} |",
            idle.label,
            idle.sessions,
            idle.each() / 1e3
        )?;
    }
    Ok(())
}

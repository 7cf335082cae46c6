//! The report of the policy, and its goals.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::measure::{Measured, Sample, Scan, Side, Split, TURNS};
use super::{AWAKE, LARGE, Plan, SMALL, STEADY, Series};
use crate::goal::Goal;
use crate::machine::Machine;
use crate::plan::IN_FLIGHT;
use crate::report::{begin, build, goals, raw_data, save};
use crate::sample::median;

type Figure = fn(&Split) -> f64;

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes report and raw data, and gives the text of the first.
pub(crate) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What the policy costs\n\n");
    head(&mut out, plan, machine, measured)?;
    goals(&mut out, &judge(measured))?;
    table(&mut out, measured)?;
    split(&mut out, measured)?;
    search(&mut out, measured)?;
    save(&plan.out, &out, &Raw { command: &plan.command, machine, measured })?;
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine, measured: &Measured) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    let build = build(plan.trained);
    writeln!(out, "- Toolgate's crates at `{commit}`, {build}, {rustc}")?;
    let patterns = measured.scans.first().map_or(0, |scan| scan.patterns);
    writeln!(
        out,
        "- One server, two hubs, both behind the HTTP front and with one tool whose reply was prepared before. *Bare*: no \
         gate, limiter, filter or recorder. *Full*: twelve rules, none of which matches, one with a CEL condition on \
         another tool; limits that are counted and not reached; redaction of 50 secrets ({patterns} patterns), none of \
         which is in the reply; the audit with its spool and its SQLite file. Metrics are counted by both: a hub \
         cannot do without"
    )?;
    writeln!(
        out,
        "- Replies are lines of prose, log and code, with their quotes and line breaks. {IN_FLIGHT} keep-alive \
         connections, legacy calls; rounds: {}, each of up to {} calls or {} s to each hub after a warm-up, with fresh \
         processes and data folders. The hubs have {TURNS} short turns each in a round, so that a machine which is slow \
         for a while is so for both; medians over rounds, and of ratios within a round. The clients are one thread, which sleeps when it has nothing to \
         do: whoever answers first then wakes it, and the slower hub has to do so more often. *Clients awake*: it never \
         sleeps. *Steady*: each client calls every {} ms instead of as soon as it has its answer, so that both hubs have \
         as many calls a second and time to rest",
        plan.rounds,
        plan.load.requests,
        plan.load.time.as_secs(),
        STEADY.every.unwrap_or_default().as_millis()
    )?;
    out.push_str(
        "- CPU is the server's alone, user and kernel time, from before the first call until it is idle after the last: \
         the audit copies records into its store behind the calls, and that counts. The load comes from the same \
         machine, so calls a second and latencies are of both together\n\
         - The bare search is aho-corasick by itself over the same bytes for the same patterns, in the same round. MB and \
         kB are powers of ten\n",
    );
    raw_data(out, &plan.out)?;
    Ok(())
}

fn judge(measured: &Measured) -> Vec<Goal> {
    let added = pairs(measured, LARGE).map(|(bare, full)| full.cpu_us - bare.cpu_us);
    let searches = measured.scans.iter().map(|scan| scan.scan_us);
    let memory = measured.scans.iter().map(|scan| scan.memory_bytes as f64 / 1e6);
    let to_bare = |series: Series| {
        let ratios = pairs(measured, series).map(|(bare, full)| full.cpu_us / bare.cpu_us);
        Goal::at_most(format!("CPU a call, {}, full to bare", series.name), 1.3, "×", median(ratios))
    };
    vec![
        to_bare(SMALL),
        to_bare(AWAKE),
        to_bare(STEADY),
        Goal::at_most(
            format!("CPU a call, {}, full less bare, to a bare search", LARGE.name),
            1.5,
            "×",
            median(added.zip(searches).map(|(added, search)| added / search)),
        ),
        Goal::at_most("memory of the automaton, 50 secrets".into(), 12.0, " MB", median(memory)),
    ]
}

/// Both hubs in a series, round by round.
fn pairs(measured: &Measured, series: Series) -> impl Iterator<Item = (&Sample, &Sample)> {
    samples(measured, Side::Bare, series).filter_map(move |bare| {
        let full = samples(measured, Side::Full, series).find(|full| full.round == bare.round)?;
        Some((bare, full))
    })
}

fn samples(measured: &Measured, side: Side, series: Series) -> impl Iterator<Item = &Sample> {
    measured.calls.iter().filter(move |sample| sample.side == side && sample.series == series.name)
}

fn table(out: &mut String, measured: &Measured) -> Result<()> {
    out.push_str(
        "\n## Calls\n\n| reply | hub | calls/s | p50 ms | p99 ms | CPU µs/call | after the last answer | to bare, round by \
         round | MB after |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for series in [SMALL, AWAKE, STEADY, LARGE] {
        for side in [Side::Bare, Side::Full] {
            let middle = |figure: fn(&Sample) -> f64| median(samples(measured, side, series).map(figure));
            let ratios: Vec<String> = match side {
                Side::Bare => Vec::new(),
                Side::Full => pairs(measured, series)
                    .map(|(bare, full)| format!("{:.2}", full.cpu_us / bare.cpu_us))
                    .collect(),
            };
            writeln!(
                out,
                "| {} | {side:?} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {} | {:.1} |",
                series.name,
                middle(|sample| sample.per_second),
                middle(|sample| sample.p50_us / 1e3),
                middle(|sample| sample.p99_us / 1e3),
                middle(|sample| sample.cpu_us),
                middle(|sample| sample.after_us),
                ratios.join(" "),
                middle(|sample| sample.loaded_bytes as f64 / 1e6),
            )?;
        }
    }
    Ok(())
}

fn split(out: &mut String, measured: &Measured) -> Result<()> {
    writeln!(
        out,
        "\n## Where it goes\n\nCalls at hubs with one part of the policy each, {} replies, without a front and clients, in \
         turns. The thread that calls, and for copying all others:\n",
        SMALL.name
    )?;
    out.push_str("| what | CPU µs/call |\n|---|---|\n");
    let rows: [(&str, Figure); 7] = [
        ("a call without any", |split| split.bare_us),
        ("rules add", |split| split.rules_us),
        ("limits add", |split| split.limits_us),
        ("redaction adds", |split| split.redaction_us),
        ("recording adds: digest, line, hash, and putting it into the spool", |split| split.record_us),
        ("all of them together add", |split| split.all_us),
        ("copying the record into the store, behind the calls", |split| split.copying_us),
    ];
    for (what, figure) in rows {
        writeln!(out, "| {what} | {:.2} |", median(measured.splits.iter().map(figure)))?;
    }
    Ok(())
}

fn search(out: &mut String, measured: &Measured) -> Result<()> {
    let Some(Scan { patterns, pattern_bytes, reply_bytes, .. }) = measured.scans.first() else {
        return Ok(());
    };
    let middle = |figure: fn(&Scan) -> f64| median(measured.scans.iter().map(figure));
    writeln!(
        out,
        "\n## Search\n\nOf {reply_bytes} bytes for {patterns} patterns of {pattern_bytes} bytes in all, without a server:\n"
    )?;
    out.push_str("| what | CPU µs | to the bare search |\n|---|---|---|\n");
    let (scan, filter) = (middle(|scan| scan.scan_us), middle(|scan| scan.filter_us));
    let ratio = middle(|scan| scan.filter_us / scan.scan_us);
    writeln!(out, "| aho-corasick by itself | {scan:.1} | 1.00 |")?;
    writeln!(out, "| the filter of redaction | {filter:.1} | {ratio:.2} |")?;
    Ok(())
}

//! The report of the hub, and its goals.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::gateway::{Behind, GATEWAYS, Gateway, SECRETS, Whose};
use super::measure::{Measured, SERVERS, Sample, TURNS};
use super::{CLIENTS, MANY_TOOLS, Plan, TOOLS};
use crate::goal::Goal;
use crate::machine::Machine;
use crate::report::{begin, build, goals, raw_data, save};
use crate::sample::median;

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    measured: &'a Measured,
}

/// Writes report and raw data, and gives the text of the first.
pub(crate) fn write(plan: &Plan, machine: &Machine, measured: &Measured) -> Result<String> {
    let mut out = String::from("# What the hop through a gateway costs\n\n");
    head(&mut out, plan, machine)?;
    goals(&mut out, &judge(measured))?;
    for behind in [Behind::Http, Behind::Stdio] {
        for clients in CLIENTS {
            table(&mut out, plan, measured, (behind, clients))?;
        }
    }
    failures(&mut out, measured)?;
    save(&plan.out, &out, &Raw { command: &plan.command, machine, measured })?;
    Ok(out)
}

fn head(out: &mut String, plan: &Plan, machine: &Machine) -> Result<()> {
    begin(out, plan.quick, &plan.command, machine)?;
    let Machine { rustc, commit, .. } = machine;
    let build = build(plan.trained);
    writeln!(out, "- Toolgate at `{commit}`, {build}, {rustc}")?;
    writeln!(
        out,
        "- `tools/call` of an echo tool of a raw server with {TOOLS} tools, over HTTP, each client with a session of its \
         own; rounds: {}, each of up to {} calls or {} s a gateway after a warm-up, in {TURNS} short turns in rotated order, \
         so that a machine which is slow for a while is so for all; fresh processes each time; medians over rounds, and of \
         ratios within a round",
        plan.rounds,
        plan.load.requests,
        plan.load.time.as_secs()
    )?;
    writeln!(
        out,
        "- Toolgate has its whole policy on: twelve rules, none of which matches, one with a CEL condition; limits that are \
         counted and not reached; redaction of {SECRETS} stored secrets; pinned definitions; the audit with its spool and \
         its SQLite file, whose copying after the last answer counts. The others have none of this; they are started as \
         their documentation shows, without logs"
    )?;
    out.push_str(
        "- The bare forwarder is axum and reqwest around an envelope of raw JSON: it parses as little as can be, and \
         decides nothing. It is built with thin LTO and without a profile, Toolgate with all of LTO\n\
         - CPU is the gateway's alone (user and kernel time of its processes, without the server behind it): it is the \
         figure to compare. The load and the server share the machine with it, so calls a second and latencies are of all \
         together. MB are powers of ten\n\
         - Idle memory is what is resident when all servers are listed and nobody has called for 12 s\n",
    );
    raw_data(out, &plan.out)?;
    Ok(())
}

/// Where samples belong: how the server is reached, and how many clients call.
type Place = (Behind, usize);

fn samples<'a>(
    measured: &'a Measured,
    name: &'a str,
    (behind, clients): Place,
    tools: usize,
) -> impl Iterator<Item = &'a Sample> {
    measured.calls.iter().filter(move |sample| {
        sample.gateway == name
            && sample.behind == behind
            && sample.clients == clients
            && sample.tools == tools
    })
}

/// CPU a call of a gateway to that of another, round by round.
fn ratio(measured: &Measured, name: &str, other: &str, place: Place) -> f64 {
    median(samples(measured, name, place, TOOLS).filter_map(|sample| {
        let other = samples(measured, other, place, TOOLS).find(|other| other.round == sample.round)?;
        Some(sample.cpu_us / other.cpu_us)
    }))
}

/// The peer that costs least.
fn best(measured: &Measured, place: Place) -> Option<&'static Gateway> {
    let cpu =
        |gateway: &Gateway| median(samples(measured, gateway.name, place, TOOLS).map(|sample| sample.cpu_us));
    let peers = GATEWAYS.iter().filter(|gateway| gateway.whose == Whose::Peer && !cpu(gateway).is_nan());
    peers.min_by(|one, other| cpu(one).total_cmp(&cpu(other)))
}

fn judge(measured: &Measured) -> Vec<Goal> {
    let mut all = Vec::new();
    for behind in [Behind::Http, Behind::Stdio] {
        for clients in CLIENTS {
            let place = (behind, clients);
            let what = format!("CPU a call, {}, {clients} at once, to the bare forwarder", word(behind));
            all.push(Goal::at_most(what, 1.5, "×", ratio(measured, "toolgate", "forward", place)));
            if let Some(best) = best(measured, place) {
                let what = format!("CPU a call, {}, {clients} at once, to {}", word(behind), best.label);
                all.push(Goal::at_most(what, 0.5, "×", ratio(measured, "toolgate", best.name, place)));
            }
        }
    }
    for behind in [Behind::Http, Behind::Stdio] {
        let place = (behind, CLIENTS[1]);
        let flat = median(samples(measured, "toolgate", place, MANY_TOOLS).filter_map(|many| {
            let few = samples(measured, "toolgate", place, TOOLS).find(|few| few.round == many.round)?;
            Some(many.cpu_us / few.cpu_us)
        }));
        let what = format!("CPU a call, {}, {MANY_TOOLS} tools to {TOOLS}", word(behind));
        all.push(Goal::at_most(what, 1.1, "×", flat));
    }
    let idle = median(measured.idle_bytes.iter().map(|bytes| *bytes as f64 / 1e6));
    all.push(Goal::at_most(format!("idle memory, {SERVERS} servers over HTTP"), 20.0, " MB", idle));
    all.retain(|goal| !goal.measured.is_nan());
    all
}

fn failures(out: &mut String, measured: &Measured) -> Result<()> {
    if measured.failures.is_empty() {
        return Ok(());
    }
    out.push_str("\n## What could not be measured\n\n");
    for failure in &measured.failures {
        let short: String = failure.lines().next().unwrap_or_default().chars().take(200).collect();
        writeln!(out, "- {short}")?;
    }
    Ok(())
}

fn word(behind: Behind) -> &'static str {
    match behind {
        Behind::Http => "HTTP",
        Behind::Stdio => "stdio",
    }
}

fn table(out: &mut String, plan: &Plan, measured: &Measured, place: Place) -> Result<()> {
    writeln!(out, "\n## A server over {}, {} at once\n", word(place.0), place.1)?;
    out.push_str(
        "| gateway | calls/s | to direct | p50 ms | p99 ms | CPU µs/call | of it the kernel | to the forwarder | MB after |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for gateway in &plan.gateways {
        for tools in [TOOLS, MANY_TOOLS] {
            row(out, measured, gateway, (place, tools))?;
        }
    }
    Ok(())
}

fn row(
    out: &mut String,
    measured: &Measured,
    gateway: &Gateway,
    (place, tools): (Place, usize),
) -> Result<()> {
    let own = || samples(measured, gateway.name, place, tools);
    if own().next().is_none() {
        return Ok(());
    }
    let middle = |figure: fn(&Sample) -> f64| median(own().map(figure));
    let to = |other: &str, figure: fn(&Sample) -> f64| {
        median(own().filter_map(|sample| {
            let other = samples(measured, other, place, TOOLS).find(|other| other.round == sample.round)?;
            Some(figure(sample) / figure(other))
        }))
    };
    let shown = |number: f64, digits: usize| {
        if number.is_nan() { String::new() } else { format!("{number:.digits$}") }
    };
    let many = if tools == TOOLS { String::new() } else { format!(", {tools} tools") };
    writeln!(
        out,
        "| {}{many} | {:.0} | {} | {:.2} | {:.2} | {} | {} | {} | {} |",
        gateway.label,
        middle(|sample| sample.per_second),
        shown(to("direct", |sample| sample.per_second), 2),
        middle(|sample| sample.p50_us / 1e3),
        middle(|sample| sample.p99_us / 1e3),
        shown(middle(|sample| sample.cpu_us), 1),
        shown(middle(|sample| sample.kernel_us), 1),
        shown(to("forward", |sample| sample.cpu_us), 2),
        shown(
            middle(|sample| if sample.loaded_bytes == 0 {
                f64::NAN
            } else {
                sample.loaded_bytes as f64 / 1e6
            }),
            1
        ),
    )?;
    Ok(())
}

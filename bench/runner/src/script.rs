//! What a script costs: a trivial one in a warm child, and twenty calls inside one beside twenty calls by a client.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::goal::Goal;
use crate::http::Connection;
use crate::machine::Machine;
use crate::plan::command;
use crate::report::{begin, goals, raw_data, save};
use crate::sample::{median, percentile};
use crate::server::Server;

/// How many calls a script makes in place of a client.
const CALLS: usize = 20;

const TRIVIAL: &str = "result = 1\n";

/// Measure what a script costs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// How often everything is measured; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/script.md")]
    out: PathBuf,
    /// The Toolgate to measure.
    #[arg(long, value_name = "FILE", default_value = "target/release/toolgate")]
    toolgate: PathBuf,
}

/// What was measured in one round, in microseconds.
#[derive(Debug, Serialize)]
struct Round {
    /// The first run of a principal: a child is started, or was beforehand.
    cold_us: f64,
    trivial_p50_us: f64,
    trivial_p99_us: f64,
    /// One script that calls a tool twenty times.
    script_p50_us: f64,
    /// Twenty calls by a client, one after another.
    client_p50_us: f64,
}

#[derive(Serialize)]
struct Raw<'a> {
    command: &'a str,
    machine: &'a Machine,
    rounds: &'a [Round],
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (rounds, times) = if options.quick { (1, 50) } else { (5, 1000) };
    let rounds = options.rounds.unwrap_or(rounds);
    ensure!(rounds > 0, "`--rounds` begins at 1");
    let toolgate = options.toolgate.canonicalize().with_context(|| {
        format!(
            "`{}` is not there\nhint: run `cargo xtask bench script`, which builds it",
            options.toolgate.display()
        )
    })?;
    let machine = Machine::look()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut measured = Vec::new();
    for number in 0..rounds {
        let round = round(&toolgate, &runtime, times)?;
        eprintln!("round {}/{rounds}: {round:?}", number + 1);
        measured.push(round);
    }
    let text = report(options, &machine, (rounds, times), &measured)?;
    save(&options.out, &text, &Raw { command: &command(), machine: &machine, rounds: &measured })?;
    println!("{text}");
    eprintln!("wrote {}", options.out.display());
    Ok(())
}

fn round(toolgate: &Path, runtime: &Runtime, times: usize) -> Result<Round> {
    let home = tempfile::tempdir()?;
    let calling = format!(
        "# @tools: workspace_read\nresult = len([tools.call(\"workspace_read\", {{\"path\": \"a.md\"}}) for _ in range({CALLS})])\n"
    );
    fs::create_dir_all(home.path().join("scripts"))?;
    fs::create_dir_all(home.path().join("w"))?;
    fs::write(home.path().join("w/a.md"), "a line\n")?;
    let settings = "[limits]\nenabled = false\n[workspace]\nroot = \"w\"\n[scripts]\ndir = \"scripts\"\n";
    fs::write(home.path().join("toolgate.toml"), settings)?;
    let ours = |arguments: &[&str]| {
        let mut command = Command::new(toolgate);
        command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
        command
    };
    for (name, source) in [("trivial", TRIVIAL), ("calling", &calling)] {
        fs::write(home.path().join(format!("scripts/{name}.star")), source)?;
        let approved = ours(&["script", "approve", name, "--yes"]).output()?;
        ensure!(
            approved.status.success(),
            "`{name}` was not approved: {}",
            String::from_utf8_lossy(&approved.stderr)
        );
    }
    let server = Server::listening(ours(&["serve", "--http", "--port", "0"]))?;
    runtime.block_on(measure(server.address()?, times))
}

async fn measure(address: std::net::SocketAddr, times: usize) -> Result<Round> {
    let mut connection = Connection::open(address).await?;
    let script = |name: &str| call("script_run", &json!({"name": name}));
    let read = call("workspace_read", &json!({"path": "a.md"}));
    let cold = timed(&mut connection, &script("trivial"), 1, 1).await?;
    timed(&mut connection, &script("trivial"), times / 10, 1).await?;
    let trivial = timed(&mut connection, &script("trivial"), times, 1).await?;
    timed(&mut connection, &script("calling"), times / 10, 1).await?;
    let inside = timed(&mut connection, &script("calling"), times / 5, 1).await?;
    timed(&mut connection, &read, times / 10, CALLS).await?;
    let outside = timed(&mut connection, &read, times / 5, CALLS).await?;
    Ok(Round {
        cold_us: percentile(&cold, 50),
        trivial_p50_us: percentile(&trivial, 50),
        trivial_p99_us: percentile(&trivial, 99),
        script_p50_us: percentile(&inside, 50),
        client_p50_us: percentile(&outside, 50),
    })
}

/// The times of some turns, sorted; each turn is as many calls, one after another.
async fn timed(
    connection: &mut Connection,
    message: &[u8],
    turns: usize,
    calls: usize,
) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..turns.max(1) {
        let began = Instant::now();
        for _ in 0..calls {
            let answer = connection.exchange(message).await?;
            ensure!(answer.status == 200, "the server answered {}", answer.status);
            let body: Value = serde_json::from_slice(answer.body)?;
            ensure!(body["result"]["isError"] == false, "the call failed: {body}");
        }
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

fn call(tool: &str, arguments: &Value) -> Vec<u8> {
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn report(
    options: &Options,
    machine: &Machine,
    (rounds, times): (usize, usize),
    measured: &[Round],
) -> Result<String> {
    let mut out = String::from("# What a script costs\n\n");
    begin(&mut out, options.quick, &command(), machine)?;
    let Machine { rustc, commit, .. } = machine;
    writeln!(
        out,
        "- Toolgate at `{commit}`, release build, {rustc}, on its defaults but for the rate limit"
    )?;
    writeln!(
        out,
        "- One client on one keep-alive connection, one call at a time; rounds: {rounds}, each of {times} runs of a trivial \
         script after a warm-up, in a fresh server; medians over rounds"
    )?;
    writeln!(
        out,
        "- *Twenty calls*: `workspace_read` of one small file, by `tools.call` in one script beside `tools/call` by the client"
    )?;
    raw_data(&mut out, &options.out)?;
    let middle = |figure: fn(&Round) -> f64| median(measured.iter().map(figure));
    let trivial = middle(|round| round.trivial_p50_us) / 1e3;
    goals(&mut out, &[Goal::at_most("warm run of a trivial script, p50".into(), 2.0, " ms", trivial)])?;
    out.push_str("\n## Figures\n\n| what | ms |\n|---|---|\n");
    for (what, ms) in [
        ("the first run", middle(|round| round.cold_us)),
        ("a warm run, p50", middle(|round| round.trivial_p50_us)),
        ("a warm run, p99", middle(|round| round.trivial_p99_us)),
        ("twenty calls in a script, p50", middle(|round| round.script_p50_us)),
        ("twenty calls by a client, p50", middle(|round| round.client_p50_us)),
    ] {
        writeln!(out, "| {what} | {:.2} |", ms / 1e3)?;
    }
    let ratio = median(measured.iter().map(|round| round.script_p50_us / round.client_p50_us));
    writeln!(
        out,
        "\nTwenty calls in a script take {ratio:.2} times as long as by a client on this machine."
    )?;
    Ok(out)
}

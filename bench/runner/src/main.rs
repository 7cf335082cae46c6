//! Loads MCP servers with calls of an echo tool, one after another, and measures what a call costs each of them.
//!
//! It is a client and nothing else: it links no code of Toolgate and none of any SDK, and knows the servers only by
//! their command lines. `front` compares Toolgate with others, `policy` compares it with itself, `hub` with other
//! gateways, `browser` with another browser server, `opencode` with OpenCode's own API, and `script` a script with a
//! client; `vault` measures a search beside a plain scan.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod browser;
mod case;
mod goal;
mod http;
mod hub;
mod idle;
mod machine;
mod opencode;
mod plan;
mod policy;
mod process;
mod report;
mod request;
mod sample;
mod script;
mod server;
mod start;
mod stdio;
mod vault;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::plan::{Options, Plan};

/// Measure what a call costs.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Front(Options),
    Policy(policy::Options),
    Hub(hub::Options),
    Vault(vault::Options),
    Opencode(opencode::Options),
    Script(script::Options),
    Browser(browser::Options),
}

fn main() -> ExitCode {
    let measured = match Cli::parse().what {
        What::Front(options) => front(&options),
        What::Policy(options) => policy::run(&options),
        What::Hub(options) => hub::run(&options),
        What::Vault(options) => vault::run(&options),
        What::Opencode(options) => opencode::run(&options),
        What::Script(options) => script::run(&options),
        What::Browser(options) => browser::run(&options),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn front(options: &Options) -> anyhow::Result<()> {
    let plan = Plan::new(options)?;
    let machine = machine::Machine::look()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let measured = report::Measured {
        calls: sample::rounds(&plan, &runtime)?,
        starts: start::measure(&plan)?,
        sessions: idle::measure(&plan, &runtime)?,
    };
    let text = report::write(&plan, &machine, &measured)?;
    println!("{text}");
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

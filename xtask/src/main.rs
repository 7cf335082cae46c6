//! `cargo xtask`: the chores of this repository, one subcommand and one module each.
//!
//! It knows the whole workspace and nothing of the product at work: no command here serves a client.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod bench;
mod builds;
mod dist;
mod generate;
mod graph;
mod mutate;
mod process;
mod repo;
#[cfg(test)]
mod sample;
mod test;
mod tidy;
mod trained;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need, then run every check: the test command of the README.
    Test(test::Args),
    /// Check directions, licences, duplicate majors and house rules; fast, offline.
    Tidy,
    /// Make a release under `target/dist` and check it; nothing is published. Takes long.
    Dist,
    /// Write the generated pages under `docs/reference`.
    Gen(generate::Args),
    /// Measure Toolgate beside other servers; never part of the tests.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Replace each guard by a pass-through, one at a time: the tests must notice. Takes long; never part of CI.
    Mutate(mutate::Args),
}

fn main() -> ExitCode {
    let root = repo::root();
    let done = match Cli::parse().chore {
        Chore::Test(args) => test::run(root, &args),
        Chore::Tidy => tidy::run(root),
        Chore::Dist => dist::run(root),
        Chore::Gen(args) => generate::run(root, &args),
        Chore::Bench(bench) => bench::run(root, &bench),
        Chore::Mutate(args) => mutate::run(root, &args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

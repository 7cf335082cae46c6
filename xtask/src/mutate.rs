//! `cargo xtask mutate`: every guard replaced by a pass-through, one at a time; the tests must notice. Never part of CI.

mod copy;
mod mutants;
mod trial;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};

use copy::Copy;
use mutants::Mutant;
use trial::{Bench, Verdict};

/// Which mutants are tried.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Try only mutants of which the name begins like this; may be given more than once.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the mutants, and check that each still fits the source.
    #[arg(long)]
    list: bool,
}

/// What became of one mutant.
struct Tried {
    name: &'static str,
    fate: String,
    seconds: f64,
    is_killed: bool,
}

/// Tries every mutant that is asked for.
pub(crate) fn run(root: &Path, args: &Args) -> Result<()> {
    let chosen = chosen(&args.only)?;
    chosen.iter().try_for_each(|mutant| mutant.applied(root).map(drop))?;
    if args.list {
        for mutant in &chosen {
            println!("{:<28} {:<40} {}", mutant.name, mutant.file, mutant.tests.join(", "));
        }
        return Ok(());
    }
    let copy = Copy::of(root)?;
    let bench = Bench::new(root, copy.path());
    unmutated(&bench, &chosen)?;
    let mut all = Vec::new();
    for mutant in chosen {
        let started = Instant::now();
        let before = copy.change(mutant.file, &mutant.applied(copy.path())?)?;
        let tried = bench.first_red(mutant.tests);
        copy.change(mutant.file, &before)?;
        let tried = judged(mutant.name, tried?, started.elapsed().as_secs_f64());
        eprintln!("{}", tried.line());
        all.push(tried);
    }
    told(&all)
}

fn chosen(only: &[String]) -> Result<Vec<&'static Mutant>> {
    let is_chosen =
        |mutant: &&Mutant| only.is_empty() || only.iter().any(|begin| mutant.name.starts_with(begin));
    let chosen: Vec<_> = mutants::all().filter(is_chosen).collect();
    if chosen.is_empty() {
        bail!("no mutant is called `{}`; `cargo xtask mutate --list` shows them", only.join("`, `"));
    }
    Ok(chosen)
}

/// What is red already proves nothing.
fn unmutated(bench: &Bench, chosen: &[&Mutant]) -> Result<()> {
    let lines: BTreeSet<_> = chosen.iter().flat_map(|mutant| mutant.tests).copied().collect();
    for line in lines {
        eprintln!("without a mutant: cargo test {line}");
        match bench.try_all(line)? {
            Verdict::Green => {}
            Verdict::Red(tests) => {
                bail!("`cargo test {line}` fails without any mutant: {}", tests.join(", "))
            }
            Verdict::Stuck => bail!("`cargo test {line}` does not end, without any mutant"),
        }
    }
    Ok(())
}

fn judged(name: &'static str, verdict: Verdict, seconds: f64) -> Tried {
    let (fate, is_killed) = match verdict {
        Verdict::Green => ("SURVIVED".to_owned(), false),
        Verdict::Stuck => ("SURVIVED: the tests did not end, and none failed".to_owned(), false),
        Verdict::Red(tests) => match tests.as_slice() {
            [] => ("SURVIVED: a test program broke down, and no test failed".to_owned(), false),
            [test] => (format!("killed by {test}"), true),
            [test, more @ ..] => (format!("killed by {test} and {} more", more.len()), true),
        },
    };
    Tried { name, fate, seconds, is_killed }
}

impl Tried {
    fn line(&self) -> String {
        format!("{:<28} {:>6.1} s  {}", self.name, self.seconds, self.fate)
    }
}

fn told(all: &[Tried]) -> Result<()> {
    all.iter().for_each(|tried| println!("{}", tried.line()));
    let survivors: Vec<_> = all.iter().filter(|tried| !tried.is_killed).map(|tried| tried.name).collect();
    if !survivors.is_empty() {
        bail!("no test notices these mutants: {}", survivors.join(", "));
    }
    println!("all {} mutants were killed", all.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_test_that_fails_kills() {
        #[track_caller]
        fn check(verdict: Verdict, is_killed: bool) {
            assert_eq!(judged("a", verdict, 0.0).is_killed, is_killed);
        }
        check(Verdict::Green, false);
        check(Verdict::Stuck, false);
        check(Verdict::Red(vec![]), false);
        check(Verdict::Red(vec!["a_test".into()]), true);
        check(Verdict::Red(vec!["a_test".into(), "another".into()]), true);
    }

    #[test]
    fn a_survivor_fails_the_whole() {
        let tried = |verdict| judged("a", verdict, 0.0);
        assert!(told(&[tried(Verdict::Red(vec!["a_test".into()]))]).is_ok());
        let error = told(&[tried(Verdict::Green)]).unwrap_err();
        assert_eq!(error.to_string(), "no test notices these mutants: a");
    }

    #[test]
    fn every_mutant_fits_the_source_and_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for mutant in mutants::all() {
            mutant.applied(crate::repo::root()).unwrap();
            assert!(names.insert(mutant.name), "`{}` is there twice", mutant.name);
            assert!(!mutant.tests.is_empty(), "`{}` has no tests", mutant.name);
        }
    }

    #[test]
    fn a_name_that_no_mutant_has_is_an_error() {
        assert!(chosen(&["no-such-mutant".into()]).is_err());
        assert_eq!(chosen(&["rules-judge".into()]).unwrap().len(), 1);
    }
}

//! `cargo xtask tidy`: what the compiler does not check: house rules, one a file; that generated pages are fresh, and that
//! examples run.

mod adrs;
mod crate_docs;
mod directions;
mod duplicates;
mod leftovers;
mod licences;
mod links;
mod machine_paths;
mod mod_files;
mod module_docs;
mod reserved;
mod shared_builds;
mod size;
mod test_binaries;
mod whitespace;

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::builds::{self, Builds};
use crate::generate;
use crate::graph::{self, Graph};
use crate::process::Program;
use crate::repo::{self, File};

/// A rule says what is wrong, and changes nothing.
type Rule = fn(&Subject) -> Vec<Finding>;

/// Every rule, by name.
const RULES: &[(&str, Rule)] = &[
    ("directions", directions::check),
    ("reserved", reserved::check),
    ("licences", licences::check),
    ("duplicates", duplicates::check),
    ("shared-builds", shared_builds::check),
    ("module-docs", module_docs::check),
    ("crate-docs", crate_docs::check),
    ("mod-files", mod_files::check),
    ("test-binaries", test_binaries::check),
    ("size", size::check),
    ("leftovers", leftovers::check),
    ("machine-paths", machine_paths::check),
    ("whitespace", whitespace::check),
    ("links", links::check),
    ("adrs", adrs::check),
];

/// What the rules look at.
pub(crate) struct Subject {
    /// Every file, in order.
    pub(crate) files: Vec<File>,
    /// Every package.
    pub(crate) graph: Graph,
    /// What the packages are built with.
    pub(crate) builds: Builds,
}

impl Subject {
    /// The Rust files.
    fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }

    /// The file at a path.
    fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The first line of a file that `is` what is meant.
    fn line(&self, path: &str, is: impl Fn(&str) -> bool) -> Option<usize> {
        self.file(path)?.lines().find(|(_, line)| is(line)).map(|(number, _)| number)
    }
}

/// What is wrong, where, and what to do instead.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) weight: Weight,
    path: String,
    line: Option<usize>,
    what: String,
    instead: String,
}

/// Whether a finding stops the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It does.
    Error,
    /// It is only said.
    Note,
}

impl Finding {
    fn new(path: &str, line: impl Into<Option<usize>>, what: impl Into<String>) -> Self {
        Self {
            weight: Weight::Error,
            path: path.to_owned(),
            line: line.into(),
            what: what.into(),
            instead: String::new(),
        }
    }

    fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = instead.into();
        self
    }

    fn note(mut self) -> Self {
        self.weight = Weight::Note;
        self
    }

    /// `path:line`, or the path alone.
    pub(crate) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.clone(),
        }
    }

    fn print(&self, rule: &str) {
        let weight = match self.weight {
            Weight::Error => "error",
            Weight::Note => "note",
        };
        println!("{weight}[{rule}]: {}: {}", self.place(), self.what);
        println!("  hint: {}", self.instead);
    }
}

/// Runs every command block and example of README and guide.
const EXAMPLES: &str = "cargo test --quiet --package toolgate --test it docs::";

/// Looks at the repository at `root` by every rule, at its generated pages, and at its examples.
pub(crate) fn run(root: &Path) -> Result<()> {
    look(root)?;
    generate::check(root)?;
    Program::new(root, EXAMPLES).run().context("an example does not run")
}

fn look(root: &Path) -> Result<()> {
    let subject =
        Subject { files: repo::read(root)?, graph: graph::read(root)?, builds: builds::read(root)? };
    let mut errors = 0;
    for (rule, check) in RULES {
        for finding in check(&subject) {
            finding.print(rule);
            errors += usize::from(finding.weight == Weight::Error);
        }
    }
    if errors > 0 {
        bail!("tidy found {errors} to correct");
    }
    println!(
        "tidy: {} rules, {} files, {} packages: nothing to correct",
        RULES.len(),
        subject.files.len(),
        subject.graph.packages.len()
    );
    Ok(())
}

//! A plain scan: every file is read and searched for the words, each time.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use crate::query::{self, Answered};

/// What was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    after_bytes: u64,
    queries: Vec<Answered>,
}

/// Asks everything that a scan can answer so many times.
pub(crate) fn run(folder: &Path, repeats: usize) -> Result<Measured> {
    let mut queries = Vec::new();
    for query in query::all() {
        let Some(words) = query.words else { continue };
        let mut answered = Answered { name: query.name, found: 0, ms: Vec::new() };
        for _ in 0..repeats {
            let started = Instant::now();
            answered.found = count(folder, &words)?;
            answered.ms.push(started.elapsed().as_secs_f64() * 1e3);
        }
        queries.push(answered);
    }
    Ok(Measured { after_bytes: crate::resident()?, queries })
}

/// How many files hold one of the words.
fn count(folder: &Path, words: &[String]) -> Result<usize> {
    let mut found = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            found += count(&entry.path(), words)?;
        } else {
            let text = fs::read_to_string(entry.path())?.to_lowercase();
            found += usize::from(words.iter().any(|word| text.contains(word)));
        }
    }
    Ok(found)
}

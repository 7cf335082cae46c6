//! What a search for the same patterns costs by itself, beside the filter that does more than that.

use std::hint::black_box;
use std::time::Duration;

use aho_corasick::{AhoCorasick, MatchKind};
use anyhow::{Result, ensure};
use toolgate_core::Filter as _;

use crate::cpu::timed;
use crate::{full, samples};

/// How often each is done.
const TIMES: u32 = 100;

/// Searches a reply of this size, and prints what that cost.
#[expect(clippy::print_stdout, reason = "the benchmark reads it there")]
pub(crate) fn run(bytes: usize) -> Result<()> {
    let redactor = full::redactor()?;
    let reply = samples::result(bytes)?;
    let patterns = redactor.patterns();
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns)?;
    let (mut scan, mut filter) = (Duration::ZERO, Duration::ZERO);
    // In turns, so that whatever else the machine does meets both.
    for _ in 0..TIMES {
        let (found, took) = timed(|| automaton.find_iter(black_box(reply.as_bytes())).count())?;
        ensure!(found == 0, "the reply holds a secret");
        scan += took;
        filter += timed(|| black_box(redactor.json(reply.clone())))?.1;
    }
    ensure!(redactor.redactions() == 0, "something was hidden in a reply without secrets");
    let each = |took: Duration| took.as_secs_f64() * 1e6 / f64::from(TIMES);
    let said = serde_json::json!({
        "patterns": patterns.len(),
        "pattern_bytes": patterns.iter().map(Vec::len).sum::<usize>(),
        "reply_bytes": reply.as_bytes().len(),
        "scan_us": each(scan),
        "filter_us": each(filter),
        "memory_bytes": redactor.memory_usage(),
    });
    println!("{said}");
    Ok(())
}

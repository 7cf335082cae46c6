//! The table at the end: what ran, how it ended, how long it took.

use std::fmt;
use std::time::Duration;

/// How a step ended.
pub(super) enum Outcome {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// The steps so far, in order.
#[derive(Default)]
pub(super) struct Report(Vec<(&'static str, Outcome)>);

impl Report {
    pub(super) fn add(&mut self, step: &'static str, outcome: Outcome) {
        self.0.push((step, outcome));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut total = Duration::ZERO;
        for (step, outcome) in &self.0 {
            match outcome {
                Outcome::Passed(took) | Outcome::Failed(took) => {
                    total += *took;
                    let word = if matches!(outcome, Outcome::Passed(_)) { "passed" } else { "FAILED" };
                    writeln!(f, "{step:<8} {word:<8} {:>7.1} s", took.as_secs_f64())?;
                }
                Outcome::NotRun => writeln!(f, "{step:<8} not run")?,
            }
        }
        writeln!(f, "{:<8} {:<8} {:>7.1} s", "total", "", total.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_line() {
        let mut report = Report::default();
        report.add("fmt", Outcome::Passed(Duration::from_millis(1250)));
        report.add("clippy", Outcome::Failed(Duration::from_secs(100)));
        report.add("doc", Outcome::NotRun);
        let lines = [
            "fmt      passed       1.2 s\n",
            "clippy   FAILED     100.0 s\n",
            "doc      not run\n",
            "total               101.2 s\n",
        ];
        assert_eq!(report.to_string(), lines.concat());
    }
}

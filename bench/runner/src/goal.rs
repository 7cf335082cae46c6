//! What Toolgate promises, and whether it holds.

use crate::case::{CASES, Case, Family};
use crate::report::Measured;
use crate::sample::{Sample, median};

/// A promise beside what was measured.
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) limit: f64,
    /// Whether reaching the limit is still good.
    pub(crate) inclusive: bool,
    pub(crate) unit: &'static str,
    pub(crate) measured: f64,
}

impl Goal {
    pub(crate) fn holds(&self) -> bool {
        self.measured < self.limit || (self.inclusive && self.measured <= self.limit)
    }

    pub(crate) fn at_most(what: String, limit: f64, unit: &'static str, measured: f64) -> Self {
        Self { what, limit, inclusive: true, unit, measured }
    }

    fn under(what: String, limit: f64, unit: &'static str, measured: f64) -> Self {
        Self { what, limit, inclusive: false, unit, measured }
    }
}

/// Every promise that this run can judge.
pub(crate) fn judge(measured: &Measured) -> Vec<Goal> {
    let ours = || CASES.iter().filter(|case| case.family == Family::Toolgate);
    let mut goals = Vec::new();
    for case in ours().filter(|case| !case.floor.is_empty()) {
        let what = format!("CPU a call, {}, to bare echo", case.label);
        goals.push(Goal::at_most(what, 1.6, "×", ratio(&measured.calls, case, case.floor)));
    }
    for case in ours().filter(|case| !case.floor.is_empty()) {
        let what = format!("CPU a call, {}, to Rust SDK", case.label);
        goals.push(Goal::at_most(what, 0.5, "×", ratio(&measured.calls, case, case.sdk)));
    }
    if let Some(start) = measured.starts.iter().find(|start| start.name == "toolgate") {
        let ms = median(start.ms.iter().copied());
        goals.push(Goal::under("second start to first answer, stdio".into(), 15.0, " ms", ms));
    }
    for (case, face) in [("toolgate-sequential", "stdio"), ("toolgate-legacy", "HTTP")] {
        let bytes = median(of(&measured.calls, case).map(|sample| sample.idle_bytes as f64));
        goals.push(Goal::under(format!("idle memory, {face}"), 12.0, " MB", bytes / 1e6));
    }
    if let Some(idle) = measured.sessions.iter().find(|idle| idle.label == "Toolgate") {
        let what = format!("idle legacy session ({} held)", idle.sessions);
        goals.push(Goal::at_most(what, 2.0, " kB", idle.each() / 1e3));
    }
    goals.retain(|goal| !goal.measured.is_nan());
    goals
}

/// The samples of a case.
pub(crate) fn of<'a>(samples: &'a [Sample], case: &'a str) -> impl Iterator<Item = &'a Sample> {
    samples.iter().filter(move |sample| sample.case == case)
}

/// CPU a call of a case to that of another: the median over rounds, where each round compares what was measured at
/// about the same time. No number if the other was not measured.
pub(crate) fn ratio(samples: &[Sample], case: &Case, other: &str) -> f64 {
    median(of(samples, case.name).filter_map(|sample| {
        let other = of(samples, other).find(|other| other.round == sample.round)?;
        Some(sample.cpu_us / other.cpu_us)
    }))
}

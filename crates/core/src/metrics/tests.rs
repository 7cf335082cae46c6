//! That the tables behind the counters agree with what they count.

use std::sync::Arc;

use toolgate_wire::Raw;

use super::*;
use crate::{CompletionRef, Error, TaskOp};

#[test]
fn every_kind_of_target_has_its_own_place() {
    let name: Arc<str> = "x".into();
    let targets = [
        Target::Tool("x".parse().unwrap()),
        Target::Resource(name.clone()),
        Target::Prompt(name.clone()),
        Target::Completion(CompletionRef::Prompt(name.clone())),
        Target::Subscribe(name.clone()),
        Target::Unsubscribe(name.clone()),
        Target::Task(TaskOp::Get, name.clone()),
        Target::Method(name),
    ];
    for target in targets {
        assert_eq!(TARGETS[position(&target)], target.kind());
    }
}

#[test]
fn every_outcome_and_every_kind_of_error_is_counted_under_its_own_word() {
    let metrics = Metrics::new();
    let outcomes = Kind::ALL.map(|kind| Outcome::Failed(Error::new(kind, "no"))).into_iter().chain([
        Outcome::Complete(Raw::EMPTY_OBJECT),
        Outcome::Task(Raw::EMPTY_OBJECT),
        Outcome::InputRequired { requests: Raw::EMPTY_OBJECT, state: None },
    ]);
    let target = Target::Prompt("x".into());
    for outcome in outcomes {
        let before = metrics.encode();
        metrics.started();
        metrics.ended(&target, &outcome, Duration::ZERO);
        let after = metrics.encode();
        let count = |text: &str, series: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
            value.and_then(|value| value.parse::<u32>().ok()).unwrap_or_else(|| panic!("no {series}"))
        };
        let mut expect =
            vec![format!("toolgate_calls_total{{target=\"prompt\",outcome=\"{}\"}}", outcome.label())];
        if let Outcome::Failed(error) = &outcome {
            expect.push(format!("toolgate_errors_total{{kind=\"{}\"}}", kind_label(error.kind())));
        }
        for series in expect {
            assert_eq!(count(&after, &series), count(&before, &series) + 1, "{series}");
        }
    }
}

#[test]
fn durations_fall_into_their_buckets() {
    let metrics = Metrics::new();
    let target = Target::Tool("x".parse().unwrap());
    for micros in [0, 500, 501, 4_000, 3_600_000_000] {
        metrics.started();
        metrics.ended(&target, &Outcome::Complete(Raw::EMPTY_OBJECT), Duration::from_micros(micros));
    }
    let text = metrics.encode();
    for line in [
        "toolgate_call_duration_seconds_bucket{le=\"0.0005\",target=\"tool\"} 2",
        "toolgate_call_duration_seconds_bucket{le=\"0.001\",target=\"tool\"} 3",
        "toolgate_call_duration_seconds_bucket{le=\"0.005\",target=\"tool\"} 4",
        "toolgate_call_duration_seconds_bucket{le=\"120.0\",target=\"tool\"} 4",
        "toolgate_call_duration_seconds_bucket{le=\"+Inf\",target=\"tool\"} 5",
        "toolgate_call_duration_seconds_count{target=\"tool\"} 5",
        "toolgate_call_duration_seconds_count{target=\"prompt\"} 0",
        "toolgate_calls_running 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_limit_that_is_not_known_makes_no_series() {
    let metrics = Metrics::new();
    let lines = metrics.encode().lines().count();
    metrics.limited("rate");
    metrics.limited("made up");
    let text = metrics.encode();
    assert_eq!(text.lines().count(), lines);
    for line in ["toolgate_limited_total{limit=\"rate\"} 1", "toolgate_limited_total{limit=\"other\"} 1"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn the_totals_are_those_of_all_kinds_of_targets() {
    let metrics = Metrics::new();
    let failed = || Outcome::Failed(Error::new(Kind::Denied, "no"));
    let ends = [
        (Target::Tool("x".parse().unwrap()), Outcome::Complete(Raw::EMPTY_OBJECT), 1),
        (Target::Prompt("x".into()), failed(), 7),
        (Target::Prompt("x".into()), failed(), 1_000_000),
    ];
    for (target, outcome, ms) in ends {
        metrics.started();
        metrics.ended(&target, &outcome, Duration::from_millis(ms));
    }
    metrics.started();
    metrics.limited("rate");
    metrics.limited("something new");
    let _asking = metrics.asking();
    let totals = metrics.totals();
    assert_eq!((totals.calls, totals.failed, totals.limited), (3, 2, 2));
    assert_eq!((totals.running, totals.queued, totals.asking), (1, 0, 1));
    let took: Vec<_> = totals.took.iter().filter(|(_, count)| *count > 0).collect();
    let ms = Duration::from_millis;
    assert_eq!(took, [&(Some(ms(1)), 1), &(Some(ms(10)), 1), &(None, 1)]);
}

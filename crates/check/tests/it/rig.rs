//! What tests stand on: a server that behaves as told, and a check of it.

use std::time::Duration;

use toolgate_check::{Address, Level, Limits, Program, Report, Subject, check};
use toolgate_host::Tasks;

/// Limits that only turn a hang into a failure.
pub(crate) const PATIENT: Limits = Limits {
    start: Duration::from_secs(120),
    probe: Duration::from_secs(60),
    answer: Duration::from_secs(60),
    end: Duration::from_secs(60),
};

/// The server on standard streams: this very binary, started again.
///
/// The harness writes to standard output by itself, so the server's own goes to file descriptor 3 and the harness's to
/// nowhere.
pub(crate) fn program(behaviour: &str) -> Subject {
    let binary = std::env::current_exe().unwrap();
    let script =
        format!("exec 3>&1 1>/dev/null; exec {} --exact server::server --nocapture", binary.display());
    Subject::Program(Program {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        variables: vec![
            ("SERVER_BEHAVIOUR".into(), behaviour.into()),
            ("PATH".into(), "/usr/bin:/bin".into()),
        ],
        folder: None,
        sandbox: None,
    })
}

/// A server at an address.
pub(crate) fn address(url: &str) -> Subject {
    Subject::Address(Address::new(url.parse().unwrap()))
}

/// Checks a server.
pub(crate) async fn report(subject: &Subject, limits: Limits) -> Report {
    let tasks = Tasks::new();
    let report = check(subject, limits, &tasks, &|_| ()).await.expect("it can be checked");
    tasks.shutdown(Duration::from_secs(10)).await;
    report
}

/// The names of the rules that do not hold, each once.
pub(crate) fn found(report: &Report) -> Vec<&'static str> {
    let mut ids: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
    ids.dedup();
    ids
}

/// Holds a server against the one rule that it breaks.
#[track_caller]
pub(crate) fn only(report: &Report, rule: &str) {
    assert_eq!(found(report), [rule], "{}", report.text(rule));
    assert!(report.worst() >= Some(Level::Note));
}

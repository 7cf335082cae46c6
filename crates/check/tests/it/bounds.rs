//! Servers that hang, die or linger: they are named, and nobody waits for them.

use std::time::Duration;

use toolgate_check::{Limits, Program, Subject, check};
use toolgate_host::Tasks;

use crate::rig::{PATIENT, found, only, program, report};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_server_that_hangs_is_a_finding() {
    let limits = Limits { start: SHORT, probe: SHORT, answer: SHORT, end: SHORT };
    let report = report(&program("hangs"), limits).await;
    only(&report, "opens");
    assert_eq!(report.findings[0].what, "no answer within 0.3 s");
    assert!(report.served.is_empty());
}

#[tokio::test]
async fn a_server_that_dies_is_a_finding_with_its_last_words() {
    let report = report(&program("dies"), PATIENT).await;
    only(&report, "opens");
    assert_eq!(report.findings[0].what, "it ended with exit code 3");
    assert!(report.complaints.iter().any(|line| line == "the server is up"), "{:?}", report.complaints);
    assert!(report.text("x").contains("  | the server is up\n"));
}

#[tokio::test]
async fn a_server_that_outlives_its_input_is_ended() {
    let limits = Limits { end: SHORT, ..PATIENT };
    only(&report(&program("ends-with-input"), limits).await, "ends-with-input");
}

#[tokio::test]
async fn a_server_of_one_era_is_checked_in_that_era() {
    for (behaviour, expect) in [
        ("only-legacy", "2025-11-25"),
        ("only-modern", "2026-07-28"),
        ("exits-on-probe", "2025-11-25"),
        ("silent-on-probe", "2025-11-25"),
    ] {
        // Only one of them never says a word.
        let probe = if behaviour == "silent-on-probe" { SHORT } else { PATIENT.probe };
        let limits = Limits { probe, ..PATIENT };
        let report = report(&program(behaviour), limits).await;
        let versions: Vec<&str> = report.served.iter().map(|served| served.version).collect();
        assert_eq!(
            (versions, found(&report)),
            (vec![expect], Vec::new()),
            "{behaviour}: {}",
            report.text("x")
        );
    }
}

#[tokio::test]
async fn a_program_that_is_no_server_is_a_finding() {
    // It answers every question with the question.
    let subject = Subject::Program(Program {
        path: "/bin/cat".into(),
        arguments: Vec::new(),
        variables: Vec::new(),
        folder: None,
        sandbox: None,
    });
    let limits = Limits { start: SHORT, probe: SHORT, answer: SHORT, ..PATIENT };
    let report = report(&subject, limits).await;
    assert!(found(&report).contains(&"opens"), "{}", report.text("cat"));
}

#[tokio::test]
async fn what_cannot_be_started_or_reached_is_no_report() {
    let tasks = Tasks::new();
    let subject = Subject::Program(Program {
        path: "/no/such/program".into(),
        arguments: Vec::new(),
        variables: Vec::new(),
        folder: None,
        sandbox: None,
    });
    let error = check(&subject, PATIENT, &tasks, &|_| ()).await.unwrap_err();
    assert!(error.to_string().starts_with("`/no/such/program` cannot be started"), "{error}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let subject = crate::rig::address(&format!("http://{address}/mcp"));
    let error = check(&subject, PATIENT, &tasks, &|_| ()).await.unwrap_err();
    assert!(error.to_string().starts_with("it cannot be connected to"), "{error}");
    assert!(error.hint().contains("address"));
}

//! Servers that would keep a check for ever, or fill its memory: each check ends.

use std::time::Duration;

use toolgate_check::{Limits, Report, Subject};

use crate::rig::{PATIENT, address, found, only, program, report};
use crate::web::Web;

const SHORT: Duration = Duration::from_millis(300);

/// Limits that are reached.
const HASTY: Limits = Limits { start: SHORT, probe: SHORT, answer: SHORT, end: SHORT };

/// Turns a hang into a failure.
async fn ends(subject: &Subject, limits: Limits) -> Report {
    let checked = tokio::time::timeout(Duration::from_secs(300), report(subject, limits)).await;
    checked.expect("a check ends")
}

#[tokio::test]
async fn a_server_that_asks_and_reads_no_answers_is_given_up() {
    for behaviour in ["asks-in-a-batch", "asks-in-lines"] {
        let report = ends(&program(behaviour), HASTY).await;
        only(&report, "opens");
        assert!(report.served.is_empty());
    }
}

#[tokio::test]
async fn a_server_that_says_too_much_is_given_up_and_the_report_says_why() {
    for (behaviour, expect) in [
        ("floods-and-ends", "it sent more than 20000 messages"),
        ("heavy", "it sent more than is kept of one conversation (256 MiB)"),
    ] {
        let report = ends(&program(behaviour), PATIENT).await;
        only(&report, "opens");
        assert_eq!(report.findings[0].what, expect);
    }
}

/// On two threads, so that the stream goes on while what came of it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_without_end_does_not_keep_the_end_of_a_connection() {
    let web = Web::start("floods").await;
    let report = ends(&address(&format!("http://127.0.0.1:{}/mcp", web.port)), PATIENT).await;
    assert_eq!(found(&report), Vec::<&str>::new(), "{}", report.text("floods"));
    assert_eq!(report.served.len(), 2);
    web.stop().await;
}

//! Rules about HTTP, each with a server that breaks it.

use toolgate_check::check;
use toolgate_host::Tasks;

use crate::rig::{PATIENT, address, found, only, report};
use crate::rules::HTTP;
use crate::web::Web;

#[tokio::test]
async fn a_server_that_is_right_is_clean_over_http() {
    let web = Web::start("").await;
    let report = report(&address(&format!("http://127.0.0.1:{}/mcp", web.port)), PATIENT).await;
    assert_eq!(found(&report), Vec::<&str>::new(), "{}", report.text("clean"));
    let served: Vec<_> = report.served.iter().map(|served| (served.version, served.transport)).collect();
    assert_eq!(served, [("2026-07-28", "HTTP"), ("2025-11-25", "HTTP")]);
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.rule.id).collect();
    assert_eq!(skipped, ["stdout-pure", "ends-with-input"], "every rule but those about programs is tried");
    web.stop().await;
}

#[tokio::test]
async fn each_rule_finds_its_server() {
    for rule in HTTP {
        let web = Web::start(rule).await;
        // This address means the same machine, and is none of loopback's.
        let host = if rule == "plain-http" { "0.0.0.0" } else { "127.0.0.1" };
        only(&report(&address(&format!("http://{host}:{}/mcp", web.port)), PATIENT).await, rule);
        web.stop().await;
    }
}

#[tokio::test]
async fn faults_of_the_conversation_are_found_over_http_too() {
    for rule in ["ping", "unknown-method", "message-schema", "pages-end", "checks-arguments", "batch"] {
        let web = Web::start(rule).await;
        only(&report(&address(&format!("http://127.0.0.1:{}/mcp", web.port)), PATIENT).await, rule);
        web.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_cannot_be_checked() {
    let web = Web::start("locked").await;
    let subject = address(&format!("http://127.0.0.1:{}/mcp", web.port));
    let error = check(&subject, PATIENT, &Tasks::new(), &|_| ()).await.unwrap_err();
    assert!(
        error.to_string().contains("without authorization") && error.hint().contains("--header"),
        "{error}"
    );
    web.stop().await;
}

//! One server per rule: the rule finds it, and no other rule does.

use toolgate_check::GROUPS;

use crate::rig::{PATIENT, found, only, program, report};

/// Rules that need a server over HTTP; their tests are in `http.rs`.
pub(crate) const HTTP: [&str; 7] = [
    "content-type",
    "notification-status",
    "unknown-session",
    "header-mismatch",
    "modern-status",
    "plain-http",
    "origin",
];

/// This one needs a limit that is reached; its test is in `bounds.rs`.
const BOUNDS: [&str; 1] = ["ends-with-input"];

async fn check(group: &str) {
    let group = GROUPS.iter().find(|other| other.name == group).unwrap();
    let rules = group.rules.iter().filter(|rule| !HTTP.contains(&rule.id) && !BOUNDS.contains(&rule.id));
    for rule in rules {
        only(&report(&program(rule.id), PATIENT).await, rule.id);
    }
}

#[tokio::test]
async fn a_server_that_is_right_is_clean_in_both_eras() {
    let report = report(&program(""), PATIENT).await;
    assert_eq!(found(&report), Vec::<&str>::new(), "{}", report.text("clean"));
    let served: Vec<_> = report.served.iter().map(|served| (served.version, served.transport)).collect();
    assert_eq!(served, [("2026-07-28", "stdio"), ("2025-11-25", "stdio")]);
    assert_eq!((report.served[0].tools, report.served[0].name.as_deref()), (3, Some("small 1")));
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.rule.id).collect();
    assert_eq!(skipped, HTTP, "every rule but those about HTTP is tried");
}

#[tokio::test]
async fn a_server_that_lets_nobody_ask_too_often_is_asked_again() {
    let report = report(&program("busy"), PATIENT).await;
    assert_eq!(found(&report), Vec::<&str>::new(), "{}", report.text("busy"));
}

#[tokio::test]
async fn opening() {
    check("opening").await;
}

#[tokio::test]
async fn messages() {
    check("messages").await;
}

#[tokio::test]
async fn conversation() {
    check("conversation").await;
}

#[tokio::test]
async fn lists() {
    check("lists").await;
}

#[tokio::test]
async fn calls() {
    check("calls").await;
}

#[tokio::test]
async fn strain() {
    check("strain").await;
}

#[tokio::test]
async fn names_and_words() {
    check("names").await;
    check("words").await;
}

#[tokio::test]
async fn schemas() {
    check("schemas").await;
}

#[tokio::test]
async fn annotations() {
    check("annotations").await;
}

#[tokio::test]
async fn safety() {
    check("safety").await;
    only(&report(&program("shadowing phrase"), PATIENT).await, "shadowing");
}

#[test]
fn every_group_is_tried_above() {
    let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
    let tried = [
        "opening",
        "messages",
        "conversation",
        "lists",
        "calls",
        "strain",
        "http",
        "names",
        "words",
        "schemas",
        "annotations",
        "safety",
    ];
    assert_eq!(names, tried);
}

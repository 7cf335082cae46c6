//! The table of errors, and how errors are written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toolgate_core::{Error, Kind, error_object, error_result};
use toolgate_wire::Raw;

#[test]
fn the_table_of_errors_is_as_it_was_agreed() {
    let mut table = String::new();
    for kind in Kind::ALL {
        let (category, code) = (kind.category(), kind.code());
        let (form, http, exit) = (kind.tool_form(), kind.http_status(), kind.exit_code());
        let retryable = if kind.retryable() { "retryable" } else { "final" };
        writeln!(table, "{kind:?}: {category}, {form:?}, {code}, HTTP {http}, exit {exit}, {retryable}")
            .unwrap();
        for suggestion in kind.suggestions() {
            writeln!(table, "  - {suggestion}").unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_category_has_a_kind_and_there_are_no_others() {
    let agreed = "connectionFailed sessionNotFound invalidInput timeout unauthorized fileNotFound skillNotFound \
        agentNotFound mcpError denied needsApproval rateLimited notFound cancelled internal";
    let had: BTreeSet<&str> = Kind::ALL.into_iter().map(Kind::category).collect();
    assert_eq!(had, agreed.split_whitespace().collect());
    assert!(Kind::ALL.into_iter().all(|kind| !kind.suggestions().is_empty()));
}

#[test]
fn a_failed_tool_explains_itself_to_the_model() {
    let error = Error::new(Kind::FileNotFound, "cannot read `a.txt`")
        .hint("call `workspace_list` to see what exists")
        .data(Raw::literal("1"))
        .because("secret: /home/me/a.txt");
    let result: serde_json::Value = error_result(&error, "Read file").to().unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&result).unwrap());
    let text = result["content"][0]["text"].as_str().unwrap();
    insta::assert_snapshot!("the_text_of_a_failed_tool", text);
}

#[test]
fn an_error_object_holds_code_message_hint_and_data() {
    #[track_caller]
    fn check(error: Error, expect: &str) {
        assert_eq!(error_object(&error).as_str(), expect);
    }
    check(Error::new(Kind::Internal, "broken").because("why"), r#"{"code":-32603,"message":"broken"}"#);
    check(
        Error::new(Kind::UnknownTarget, "unknown tool `x`").hint("did you mean `y`?"),
        r#"{"code":-32602,"message":"unknown tool `x`; did you mean `y`?"}"#,
    );
    check(
        Error::new(Kind::RateLimited, "slow").data(Raw::literal(r#"{"n":1e400,"m":1.0}"#)),
        r#"{"code":-32000,"message":"slow","data":{"n":1e400,"m":1.0}}"#,
    );
    let foreign = r#"{"code": -7, "message":"theirs", "data":{"x":1.0}, "more":1}"#;
    check(Error::forwarded(Raw::literal(foreign)).hint("unused"), foreign);
}

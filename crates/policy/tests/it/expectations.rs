//! Explanations, and files of expectations.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::Hints;
use toolgate_policy::{Expectations, Question, ToolFacts, read_target};
use toolgate_wire::Raw;

use crate::support::policy;

const POLICY: &str = r#"
    [policy]
    default = "ask"
    [[policy.rules]]
    name = "readers"
    then = "allow"
    read_only = true
    [[policy.rules]]
    name = "no-secrets"
    then = "deny"
    targets = ["files_*"]
    when = 'args.path.startsWith("/secret")'
    reason = "secrets stay where they are"
    [[policy.rules]]
    name = "ops"
    then = "allow"
    principals = ["role:ops"]
    when = 'args.n < 3'
    [[policy.rules]]
    name = "never"
    then = "deny"
    targets = ["files_delete"]
    [roles.ops]
    [principals.alice]
    roles = ["ops"]
    [principals.eve]
    may_use = ["files_read"]
    [profiles.lean]
    shows = ["files_read"]
"#;

#[test]
fn an_explanation_names_every_rule_that_was_tried() {
    let policy = policy(POLICY);
    let target = read_target("files_write").unwrap();
    let question = Question {
        args: Raw::of(&json!({"path": "/tmp", "n": "many"})),
        hints: Some(Hints::WRITE_LOCAL),
        ..Question::new("alice", &target)
    };
    let explanation = policy.explain(&question);
    insta::assert_snapshot!(explanation, @r"
    principal  alice (ops)
    target     files_write
    decision   ask: no rule matches, so `policy.default` decides
    listed     yes
       readers (allow): `read_only` is not as it says
       no-secrets (deny): its condition does not hold
       ops (allow): its condition cannot be told, so it does not count: `_<_` does not work on string and int
       never (deny): it is about other targets
    ");
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["gives"], "ask");
    assert_eq!(json["tried"][2]["matches"], false);

    let denied = policy.explain(&Question { args: Raw::EMPTY_OBJECT, ..Question::new("bob", &target) });
    insta::assert_snapshot!(denied, @r"
    principal  bob
    target     files_write
    decision   deny: by the rule `no-secrets`
    reason     secrets stay where they are
    listed     yes
       readers (allow): `read_only` is not as it says
    -> no-secrets (deny): its condition cannot be told, so it counts: there is no `path`; `has(…)` asks whether there is
    ");

    let profile = policy.explain(&Question { profile: Some("lean"), ..Question::new("bob", &target) });
    insta::assert_snapshot!(profile, @r"
    principal  bob
    target     files_write
    profile    lean
    decision   deny: it is not in the profile
    listed     no
    ");
    let bound = policy.explain(&Question::new("eve", &target));
    assert_eq!((bound.rule.as_str(), bound.listed), ("may_use", false));
    let roles: [Arc<str>; 1] = ["ops".into()];
    let by_token = policy.explain(&Question {
        roles: &roles,
        args: Raw::of(&json!({"n": 1, "path": ""})),
        ..Question::new("zoe", &target)
    });
    assert_eq!(by_token.rule, "ops");
}

fn tools(name: &str) -> Option<ToolFacts> {
    let hints = match name {
        "files_read" => Hints::READ_ONLY,
        "files_write" | "files_delete" => Hints::WRITE_LOCAL,
        _ => return None,
    };
    Some(ToolFacts { hints, source: "files".into() })
}

#[test]
fn a_file_of_expectations_is_held_against_the_policy() {
    let file = r#"
[[expect]]
principal = "bob"
target = "files_read"
gives = "allow"
rule = "readers"

[[expect]]
principal = "bob"
target = "files_write"
args = { path = "/secret/x" }
gives = "deny"
rule = "never"

[[expect]]
principal = "bob"
target = "files_write"
args = { path = "/tmp" }
gives = "allow"

[[expect]]
principal = "bob"
target = "files_delete"
args.path = "/tmp"
gives = "hidden"

[[expect]]
principal = "zoe"
roles = ["ops"]
target = "resource:file:///x"
args = { n = 1 }
gives = "allow"

[[expect]]
principal = "eve"
target = "prompt:greet"
gives = "hidden"

[[expect]]
principal = "bob"
target = "unknown_tool"
read_only = true
gives = "allow"
"#;
    let expectations = Expectations::parse(file).unwrap();
    let report = expectations.run(&policy(POLICY), tools);
    assert!(!report.is_met());
    insta::assert_snapshot!(report, @r"
    line 8: `bob` and `files_write` give deny by `no-secrets`, not by `never`
    line 15: `bob` and `files_write` give ask by `default`, not allow
    5 of 7 expectations are met
    ");
    assert_eq!(serde_json::to_value(&report).unwrap()["failures"][0]["line"], 8);
}

#[test]
fn a_file_of_expectations_that_is_none_is_refused_with_its_place() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        let error = Expectations::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }
    check("", "line 1, column 1: there is no expectation\nhint: write a table `[[expect]]`");
    check("[[expect]]\nprincipal = 3", "line 2, column 13: invalid type");
    check("[[expect]]\nprincipel = \"x\"", "line 2, column 1: unknown field `principel`");
    check(
        "\n[[expect]]\nprincipal = \"x\"\ntarget = \"toool:x\"\ngives = \"deny\"",
        "line 2, column 1: `toool:x` is of no kind that exists\nhint: did you mean `tool`?",
    );
    check(
        "[[expect]]\nprincipal = \"x\"\ntarget = \"a b\"\ngives = \"deny\"",
        "line 1, column 1: unknown tool `a b`",
    );
    check("[[expect]", "line 1, column ");
}

//! Rules, lists and profiles, at the hub.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Call, ListKind, Principal};

use crate::support::{call_of, fate, files, hub_with, policy, seen};

fn who(name: &str) -> Arc<Principal> {
    match name.split_once('+') {
        Some((name, role)) => Principal::with_roles(name, [role.into()]),
        None => Principal::named(name),
    }
}

/// Tries calls under a policy: who, for what, with which arguments, and how it ends.
async fn check(text: &str, cases: &[(&str, &str, Value, &str)]) {
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    for (principal, target, args, expect) in cases {
        let before = source.calls();
        let fate = fate(&hub, call_of(who(principal), target, args)).await;
        assert_eq!(fate, *expect, "{principal} {target} {args}");
        assert_eq!(source.calls() - before, usize::from(*expect == "allow"), "{principal} {target} {args}");
    }
}

#[tokio::test]
async fn without_rules_everything_is_allowed() {
    check(
        "",
        &[("local", "files_read", json!({}), "allow"), ("x", "resource:file:///docs/a", json!({}), "allow")],
    )
    .await;
}

#[tokio::test]
async fn the_first_rule_that_matches_decides() {
    let text = r#"
        [[policy.rules]]
        name = "ops-may"
        then = "allow"
        principals = ["role:ops"]
        targets = ["files_delete"]
        [[policy.rules]]
        name = "no-deletes"
        then = "deny"
        targets = ["*_delete"]
        reason = "files are kept"
        [roles.ops]
    "#;
    // A tool that no arguments could pass is not even there.
    check(
        text,
        &[
            ("alice", "files_delete", json!({}), "UnknownTarget: unknown tool `files_delete`"),
            ("bob+ops", "files_delete", json!({}), "allow"),
            ("alice", "files_read", json!({}), "allow"),
        ],
    )
    .await;
}

#[tokio::test]
async fn conditions_look_at_arguments_and_fail_closed() {
    let text = r#"
        [[policy.rules]]
        name = "no-secrets"
        then = "deny"
        targets = ["files_*"]
        when = 'args.path.startsWith("/secret")'
        reason = "secrets stay where they are"
        [[policy.rules]]
        name = "small"
        then = "allow"
        targets = ["files_write"]
        when = 'size(args.text) < 10'
        [[policy.rules]]
        name = "large"
        then = "ask"
        targets = ["files_write"]
    "#;
    let denied = "Denied: the rule `no-secrets` denies it: secrets stay where they are";
    check(
        text,
        &[
            ("a", "files_read", json!({"path": "/tmp"}), "allow"),
            ("a", "files_read", json!({"path": "/secret/x"}), denied),
            // What cannot be told is held back …
            ("a", "files_read", json!({}), denied),
            ("a", "files_read", json!({"path": 7}), denied),
            ("a", "files_write", json!({"path": "/tmp", "text": "short"}), "allow"),
            ("a", "files_write", json!({"path": "/tmp", "text": "rather long"}), "ask"),
            // … and not let through.
            ("a", "files_write", json!({"path": "/tmp"}), "ask"),
        ],
    )
    .await;
}

#[tokio::test]
async fn every_kind_of_target_passes_the_rules() {
    let text = r#"
        [policy]
        default = "deny"
        [[policy.rules]]
        then = "allow"
        principals = ["alice"]
        targets = ["resource:file:///docs/*", "prompt:greet"]
        [[policy.rules]]
        then = "allow"
        principals = ["alice"]
        targets = ["task:*"]
        when = 'kind == "task"'
        [[policy.rules]]
        then = "ask"
        principals = ["bob"]
        targets = ["subscription:*"]
        [[policy.rules]]
        then = "allow"
        principals = ["bob"]
        targets = ["resource:*"]
        when = 'kind == "resource"'
    "#;
    let no = "Denied: no rule allows it";
    check(
        text,
        &[
            ("alice", "resource:file:///docs/a", json!({}), "allow"),
            ("alice", "resource:file:///docs/new", json!({}), "allow"),
            ("alice", "subscription:file:///docs/a", json!({}), "allow"),
            ("alice", "completion:greet", json!({"name": "n", "value": ""}), "allow"),
            ("alice", "prompt:greet", json!({}), "allow"),
            ("alice", "prompt:secret", json!({}), "UnknownTarget: unknown prompt `secret`"),
            ("alice", "resource:file:///docs/../etc/passwd", json!({}), no),
            ("alice", "resource:file:///home/me/x", json!({}), no),
            ("alice", "files_read", json!({}), "UnknownTarget: unknown tool `files_read`"),
            ("bob", "subscription:file:///docs/a", json!({}), "ask"),
            ("bob", "resource:file:///etc/passwd", json!({}), "allow"),
            ("bob", "completion:file:///{+path}", json!({"name": "path", "value": ""}), no),
            ("bob", "task:1", json!({}), no),
        ],
    )
    .await;
}

#[tokio::test]
async fn annotations_sources_and_clients_can_be_meant() {
    let text = r#"
        [policy]
        default = "deny"
        [[policy.rules]]
        then = "allow"
        read_only = true
        source = "fil*"
        [[policy.rules]]
        name = "write"
        then = "ask"
        destructive = true
        read_only = false
        when = 'client == ""'
    "#;
    check(
        text,
        &[
            ("a", "files_read", json!({}), "allow"),
            ("a", "files_write", json!({}), "ask"),
            (
                "a",
                "resource:file:///docs/a",
                json!({}),
                "ResourceNotFound: resource `file:///docs/a` not found",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn lists_bound_what_anyone_may_ever_use() {
    let text = r#"
        [principals.alice]
        may_use = ["files_read", "resource:file:///docs/*"]
        [principals.bob]
        roles = ["writers"]
        may_use = ["files_read"]
        [principals.carol]
        roles = ["named"]
        [roles.writers]
        may_use = ["files_write"]
        [roles.named]
        [[policy.rules]]
        then = "allow"
        targets = ["*:*"]
    "#;
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    let tools = async |name: &str| seen(&hub, &who(name), None, ListKind::Tools).await.join(" ");
    assert_eq!(tools("alice").await, "files_read");
    assert_eq!(tools("bob").await, "files_read files_write");
    assert_eq!(tools("carol").await, "files_delete files_read files_write");
    assert_eq!(tools("dave").await, "files_delete files_read files_write");
    assert_eq!(tools("dave+writers").await, "files_write");
    assert_eq!(seen(&hub, &who("alice"), None, ListKind::Resources).await, ["file:///docs/a"]);
    assert_eq!(seen(&hub, &who("alice"), None, ListKind::Templates).await, ["file:///{+path}"]);
    assert!(seen(&hub, &who("alice"), None, ListKind::Prompts).await.is_empty());
    check(
        text,
        &[
            ("alice", "resource:file:///docs/b", json!({}), "allow"),
            (
                "alice",
                "resource:file:///etc/x",
                json!({}),
                "Denied: `resource:file:///etc/x` is not among what `alice` may use",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_profile_narrows_and_never_widens() {
    let text = r#"
        [profiles.lean]
        shows = ["files_*", "prompt:*"]
        hides = ["files_delete"]
        [profiles.all]
        [principals.alice]
        profile = "lean"
        [[policy.rules]]
        then = "deny"
        targets = ["files_write"]
    "#;
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    let tools = async |name: &str, profile| seen(&hub, &who(name), profile, ListKind::Tools).await.join(" ");
    assert_eq!(tools("alice", None).await, "files_read");
    assert_eq!(tools("alice", Some("all")).await, "files_delete files_read");
    assert_eq!(tools("bob", None).await, "files_delete files_read");
    assert_eq!(tools("bob", Some("lean")).await, "files_read");
    // A profile that is gone shows nothing.
    assert_eq!(tools("bob", Some("gone")).await, "");
    assert!(seen(&hub, &who("alice"), None, ListKind::Resources).await.is_empty());
    let call = |profile: &str, target| Call {
        profile: Some(profile.into()),
        ..call_of(who("bob"), target, &json!({}))
    };
    assert_eq!(fate(&hub, call("lean", "files_delete")).await, "UnknownTarget: unknown tool `files_delete`");
    assert_eq!(fate(&hub, call("all", "files_delete")).await, "allow");
}

#[tokio::test]
async fn who_comes_in_by_a_profile_that_searches_searches_under_the_same_rules() {
    let text = r#"
        [policy]
        default = "deny"
        [[policy.rules]]
        then = "allow"
        targets = ["files_read"]
        [[policy.rules]]
        name = "careful"
        then = "deny"
        targets = ["files_write"]
        when = "has(args.path)"
        [profiles.search]
        search = true
        [profiles.list]
        search = false
        [principals.alice]
        profile = "search"
    "#;
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    let tools = async |name: &str, profile| seen(&hub, &who(name), profile, ListKind::Tools).await.join(" ");
    let three = "tools_search tools_describe tools_call";
    assert_eq!(tools("alice", None).await, three);
    assert_eq!(tools("alice", Some("list")).await, "files_read");
    assert_eq!(tools("bob", None).await, "files_read");
    assert_eq!(tools("bob", Some("search")).await, three);
    let calls = |tool: &str, arguments| call_of(who("alice"), tool, &arguments);
    assert_eq!(fate(&hub, calls("tools_search", json!({"query": "files"}))).await, "allow");
    assert_eq!(fate(&hub, calls("tools_call", json!({"name": "files_read"}))).await, "allow");
    let unknown = "NotFound: unknown tool `files_write`";
    assert_eq!(fate(&hub, calls("tools_call", json!({"name": "files_write"}))).await, unknown);
}

#[tokio::test]
async fn a_rule_about_arguments_reads_those_of_the_tool_that_was_searched_for() {
    let text = r#"
        [[policy.rules]]
        name = "careful"
        then = "deny"
        targets = ["files_write"]
        when = "args.path == '/etc'"
        [profiles.search]
        search = true
        [principals.alice]
        profile = "search"
    "#;
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    for (path, expect) in [("/etc", "Denied: the rule `careful` denies it"), ("/tmp", "allow")] {
        let arguments = json!({"name": "files_write", "arguments": {"path": path}});
        assert_eq!(fate(&hub, call_of(who("alice"), "tools_call", &arguments)).await, expect, "{path}");
    }
}

#[tokio::test]
async fn a_refusal_names_the_rule_and_the_command_that_explains() {
    let source = files();
    let text = r#"
        [[policy.rules]]
        name = "no-secrets"
        then = "deny"
        when = "has(args.secret)"
    "#;
    let (hub, _) = hub_with(&source, policy(text));
    let run = hub.start(call_of(who("alice"), "files_read", &json!({"secret": 1})));
    let error = toolgate_testkit::Expect::failed(toolgate_testkit::drive(run, []).await);
    assert_eq!(error.message(), "the rule `no-secrets` denies it");
    assert_eq!(
        error.next_step(),
        Some("`toolgate policy explain alice files_read` tells which rule decides and why")
    );
}

#[tokio::test]
async fn other_rules_hold_from_the_next_call_on() {
    let source = files();
    let (hub, gate) = hub_with(&source, policy(""));
    let version = hub.policy_version();
    let call = || call_of(who("alice"), "files_read", &json!({}));
    assert_eq!(fate(&hub, call()).await, "allow");
    gate.set(policy("[policy]\ndefault = \"ask\""));
    assert_ne!(hub.policy_version(), version);
    assert_eq!(fate(&hub, call()).await, "ask");
    gate.set(policy("[policy]\ndefault = \"deny\""));
    hub.policy_changed();
    assert_eq!(fate(&hub, call()).await, "UnknownTarget: unknown tool `files_read`");
    gate.set(policy(""));
    assert_eq!(hub.policy_version(), version);
}

#[test]
fn a_rule_without_a_name_keeps_its_label_wherever_it_stands() {
    let one = "[[policy.rules]]\nthen = \"deny\"\ntargets = [\"x\"]\n";
    let other = "[[policy.rules]]\nthen = \"ask\"\ntargets = [\"y\"]\nreason = \"r\"\n";
    let names = |text: String| policy(&text).rules().map(ToOwned::to_owned).collect::<Vec<_>>();
    let (forward, backward) = (names(format!("{one}{other}")), names(format!("{other}{one}")));
    assert_eq!(forward[0], backward[1]);
    assert_eq!(forward[1], backward[0]);
    assert!(forward[0].starts_with("deny-") && forward[1].starts_with("ask-"), "{forward:?}");
    // Other words for the same do not change what was approved.
    assert_eq!(names(other.replace("\"r\"", "\"s\"")), names(other.to_owned()));
}

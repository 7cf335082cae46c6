//! No call reaches a source unless the rules, read word for word, allow it.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::{Hints, Principal, Target};
use toolgate_policy::Question;
use toolgate_policy::config::{Effect, RuleConfig};
use toolgate_wire::Raw;

use crate::support::{Tables, call_of, fate, files, hub_with, tables};

const CONDITIONS: [&str; 3] = ["args.n > 1", "has(args.n)", "args.n > 1 || principal == 'alice'"];
const TARGETS: [&str; 8] = [
    "files_*",
    "files_read",
    "*",
    "*:*",
    "resource:file:///docs/*",
    "prompt:greet",
    "prompt:*",
    "resource:*",
];
const ASKED: [&str; 6] = [
    "files_read",
    "files_write",
    "files_delete",
    "resource:file:///docs/a",
    "resource:file:///etc/passwd",
    "prompt:greet",
];

/// A call, as far as the rules look at it.
#[derive(Debug, Clone)]
struct Asked {
    principal: &'static str,
    /// Brought along by the token.
    ops: bool,
    target: &'static str,
    n: Option<i64>,
}

fn rules() -> impl Strategy<Value = Vec<RuleConfig>> {
    let principals = prop::option::of(prop::collection::vec(
        prop::sample::select(vec!["alice", "bob", "role:ops", "*", "a*"]),
        0..3,
    ));
    let targets = prop::option::of(prop::collection::vec(prop::sample::select(TARGETS.to_vec()), 0..3));
    let owned = |all: Option<Vec<&str>>| all.map(|all| all.into_iter().map(ToOwned::to_owned).collect());
    let rule = (
        prop::sample::select(vec![Effect::Allow, Effect::Ask, Effect::Deny]),
        principals,
        targets,
        prop::option::weighted(0.3, any::<bool>()),
        prop::option::weighted(0.3, prop::sample::select(vec!["files", "github", "f*"])),
        prop::option::weighted(0.5, prop::sample::select(CONDITIONS.to_vec())),
    )
        .prop_map(move |(then, principals, targets, read_only, source, when)| RuleConfig {
            then,
            principals: owned(principals),
            targets: owned(targets),
            read_only,
            source: source.map(ToOwned::to_owned),
            when: when.map(ToOwned::to_owned),
            ..RuleConfig::default()
        });
    prop::collection::vec(rule, 0..6)
}

fn asked() -> impl Strategy<Value = Asked> {
    let principal = prop::sample::select(vec!["alice", "bob", "carol"]);
    (principal, any::<bool>(), prop::sample::select(ASKED.to_vec()), prop::option::of(0_i64..4))
        .prop_map(|(principal, ops, target, n)| Asked { principal, ops, target, n })
}

/// What the rules say, read word for word.
fn naive(tables: &Tables, asked: &Asked) -> Effect {
    // `carol` is bounded by a list, `bob` has the role by configuration.
    if asked.principal == "carol" && !fits("files_*", asked.target) {
        return Effect::Deny;
    }
    for rule in &tables.policy.rules {
        let condition = rule.when.as_deref().map(|when| holds(when, asked));
        let holds = match condition {
            None => true,
            Some(Some(holds)) => holds,
            Some(None) => rule.then != Effect::Allow,
        };
        if holds && fits_otherwise(rule, asked) {
            return rule.then;
        }
    }
    tables.policy.default
}

fn fits_otherwise(rule: &RuleConfig, asked: &Asked) -> bool {
    let ops = asked.ops || asked.principal == "bob";
    let is = |pattern: &String| match pattern.as_str() {
        "*" => true,
        "a*" => asked.principal == "alice",
        "role:ops" => ops,
        name => name == asked.principal,
    };
    let hint = asked.target.starts_with("files_").then_some(asked.target == "files_read");
    rule.principals.as_ref().is_none_or(|all| all.iter().any(is))
        && rule.targets.as_ref().is_none_or(|all| all.iter().any(|pattern| fits(pattern, asked.target)))
        && rule.source.as_ref().is_none_or(|source| source != "github")
        && (rule.read_only.is_none() || rule.read_only == hint)
}

fn fits(pattern: &str, target: &str) -> bool {
    let tool = !target.contains(':');
    match pattern {
        "*:*" => true,
        "*" => tool,
        pattern => match pattern.strip_suffix('*') {
            Some(head) => target.starts_with(head),
            None => target == pattern,
        },
    }
}

/// The conditions, in another language; nothing where they cannot be told.
fn holds(condition: &str, asked: &Asked) -> Option<bool> {
    // Resources have no arguments.
    let n = asked.n.filter(|_| !asked.target.starts_with("resource:"));
    let more = n.map(|n| n > 1);
    match condition {
        "has(args.n)" => Some(n.is_some()),
        "args.n > 1" => more,
        _ => {
            if asked.principal == "alice" {
                Some(true)
            } else {
                more
            }
        }
    }
}

/// What the tools of the source say of themselves.
fn hints(target: &str) -> Option<Hints> {
    let read_only = || if target == "files_read" { Hints::READ_ONLY } else { Hints::WRITE_LOCAL };
    target.starts_with("files_").then(read_only)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_call_reaches_a_source_unless_the_rules_allow_it(
        rules in rules(),
        default in prop::sample::select(vec![Effect::Allow, Effect::Ask, Effect::Deny]),
        calls in prop::collection::vec(asked(), 1..32),
    ) {
        let mut tables = tables("[roles.ops]\n[principals.bob]\nroles = [\"ops\"]\n[principals.carol]\nmay_use = [\"files_*\"]");
        tables.policy.rules = rules;
        tables.policy.default = default;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let source = files();
            let (hub, gate) = hub_with(&source, tables.load().unwrap());
            for asked in calls {
                let before = source.calls();
                let roles: Vec<Arc<str>> = if asked.ops { vec!["ops".into()] } else { Vec::new() };
                let principal = Principal::with_roles(asked.principal, roles.clone());
                let args: Value = asked.n.map_or(json!({}), |n| json!({"n": n}));
                let fate = fate(&hub, call_of(principal, asked.target, &args)).await;
                let expect = naive(&tables, &asked);
                let reached = source.calls() > before;
                assert_eq!(reached, expect == Effect::Allow, "{asked:?}: {fate}, but the rules say {expect:?}");
                assert_eq!(fate == "ask", expect == Effect::Ask, "{asked:?}: {fate}");
                let target = toolgate_policy::read_target(asked.target).unwrap();
                let explained = gate.current().explain(&Question {
                    roles: &roles,
                    args: if matches!(target, Target::Resource(_)) { Raw::EMPTY_OBJECT } else { Raw::of(&args) },
                    hints: hints(asked.target),
                    source: Some("files"),
                    ..Question::new(asked.principal, &target)
                });
                assert_eq!(explained.gives, expect, "{asked:?}");
                let last = explained.tried.last().filter(|step| step.matches).map(|step| &step.rule);
                let by_rule = !["default", "may_use"].contains(&explained.rule.as_str());
                assert_eq!(last, by_rule.then_some(&explained.rule), "{asked:?}");
            }
        });
    }
}

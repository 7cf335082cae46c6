//! What conditions say, and what is wrong with those that are none.

use serde_json::{Value as Json, json};

use super::*;

fn ask(condition: &str, args: Json) -> Result<bool, String> {
    let arguments = Arguments::new(Raw::of(&args));
    let facts = Facts {
        principal: "alice",
        roles: &["ops", "dev"],
        target: "workspace_read",
        kind: "tool",
        source: "workspace",
        client: "inspector",
        arguments: &arguments,
    };
    Condition::compile(condition).unwrap_or_else(|bad| panic!("{bad:?}")).holds(&facts)
}

#[test]
fn conditions_hold_or_not() {
    #[track_caller]
    fn check(condition: &str, args: Json, expect: bool) {
        assert_eq!(ask(condition, args), Ok(expect), "{condition}");
    }
    check("args.path.startsWith('/secret')", json!({"path": "/secret/x"}), true);
    check("args.path.startsWith('/secret')", json!({"path": "/tmp"}), false);
    check("has(args.path) && args.path == 'x'", json!({}), false);
    check("!has(args.path)", json!({}), true);
    check("'ops' in roles && principal == 'alice'", json!({}), true);
    check(
        "kind == 'tool' && source == 'workspace' && target.endsWith('_read') && client == 'inspector'",
        json!({}),
        true,
    );
    check("args.n > 10 && args.n + 1 == 12", json!({"n": 11}), true);
    check("args.n > 10", json!({"n": 10.5}), true);
    check("args.n > 10", json!({"n": u64::MAX}), true);
    check("args.tags.exists(t, t == 'x')", json!({"tags": ["a", "x"]}), true);
    check("args.files.all(f, f.tags.exists(t, t == 'x'))", json!({"files": [{"tags": ["x"]}]}), true);
    check("size(args.list) <= 2 && type(args.list) == list", json!({"list": [1, 2]}), true);
    check("args.a.b['c'] == null", json!({"a": {"b": {"c": null}}}), true);
    // What one side says already need not wait for the other.
    check("args.missing == 1 || true", json!({}), true);
}

#[test]
fn what_cannot_be_told_says_why_and_repeats_no_value() {
    #[track_caller]
    fn check(condition: &str, args: Json, expect: &str) {
        assert_eq!(ask(condition, args), Err(expect.to_owned()), "{condition}");
    }
    check("args.path == 'x'", json!({}), "there is no `path`; `has(…)` asks whether there is");
    check("args.path.startsWith('/')", json!({"path": 7}), "`startsWith` does not work on int and string");
    check("args.n < 'secret'", json!({"n": 1}), "`_<_` does not work on int and string");
    check("args.path", json!({"path": "x"}), "it gives a string where a truth value is needed");
    check("1 / args.n == 1", json!({"n": 0}), "it divides by zero");
    check("args.l[3] == 1", json!({"l": []}), "a list has no item at that place");
    check("args.x == 1", json!({"x": "y".repeat(70_000)}), "the arguments are larger than 65536 bytes");
    check("args.x.all(i, i == 1)", json!({"x": vec![1; 1001]}), "the arguments hold more than 1000 values");
}

#[test]
fn a_condition_that_is_none_is_refused_with_its_place() {
    #[track_caller]
    fn check(condition: &str, message: &str, hint: &str) {
        let bad = Condition::compile(condition).unwrap_err();
        assert!(bad.message.starts_with(message) && bad.hint.starts_with(hint), "{condition}: {bad:?}");
    }
    check("args.path ==", "cannot be read at character 13: ", "a condition is CEL");
    check("", "cannot be read at character 1: ", "a condition is CEL");
    check("arg.path == 'x'", "asks for `arg` at character 1, which does not exist", "did you mean `args`?");
    check("true && zzzzzz", "asks for `zzzzzz` at character 9", "there are `args`");
    check(
        "args.p.startWith('x')",
        "calls `startWith` at character 17, which does not exist",
        "did you mean `startsWith`?",
    );
    check("args.p.matches('x')", "calls `matches`", "there are `size`");
    check("Message{a: 1}", "makes a `Message`", "use numbers");
    check("args.a.all(x, args.a.all(y, args.a.all(z, x == z)))", "has loops more than 2 deep", "what costs");
    check(&"a".repeat(1001), "is longer than 1000 bytes", "make two rules");
}

/// However a condition is nested, reading it neither ends the process nor takes long.
#[test]
fn a_deeply_nested_condition_is_refused_or_read() {
    for (open, core, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("!", "true", ""),
        ("-", "1", ""),
        ("", "1", "+1"),
        ("true&&", "true", ""),
        ("true?true:", "true", ""),
        ("{1:", "1", "}"),
        ("", "args", ".a"),
        ("", "args", "[0]"),
    ] {
        let times = (LONGEST - core.len()) / (open.len() + close.len());
        let text = format!("{}{core}{}", open.repeat(times), close.repeat(times));
        if let Ok(condition) = Condition::compile(&text) {
            let arguments = Arguments::new(Raw::EMPTY_OBJECT);
            let facts = Facts {
                principal: "",
                roles: &[],
                target: "",
                kind: "tool",
                source: "",
                client: "",
                arguments: &arguments,
            };
            drop(condition.holds(&facts));
        }
    }
}

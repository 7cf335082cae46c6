//! Every kind of mistake in a policy, and what is said of it.

use toolgate_policy::LimitSettings;

use crate::support::tables;

/// All that is said of a policy.
#[track_caller]
fn said(text: &str) -> String {
    let tables = tables(text);
    let rules = tables.load().err().map(|error| error.to_string());
    let limits = LimitSettings::load(&tables.limits, &tables.principals).err().map(|error| error.to_string());
    [rules, limits].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(said(text), expect, "{text}");
}

#[test]
fn every_mistake_in_a_rule_is_named_with_its_key_and_what_to_write() {
    let rule = |line: &str| format!("[[policy.rules]]\nthen = \"deny\"\n{line}\n");
    check(
        &rule(r#"targets = ["files_*", "resorce:x"]"#),
        "`policy.rules[0].targets[1]` is no pattern: `resorce:x` is of no kind that exists\nhint: did you mean `resource`?",
    );
    check(
        &rule(r#"targets = ["prompt:"]"#),
        "`policy.rules[0].targets[0]` is no pattern: `prompt:` names nothing\nhint: write a name, or `*` for all of them",
    );
    check(
        &(rule(r#"principals = ["role:opps"]"#) + "[roles.ops]"),
        "`policy.rules[0].principals[0]` names the role `opps`, which does not exist\nhint: did you mean `ops`?",
    );
    check(
        &rule(r#"principals = ["role:ops"]"#),
        "`policy.rules[0].principals[0]` names the role `ops`, which does not exist\nhint: add `[roles.ops]`, be it empty",
    );
    check(
        &rule(r#"source = "gihub""#),
        "`policy.rules[0].source` is `gihub`, which is no source\nhint: did you mean `github`?",
    );
    check(
        &rule(r#"when = "arg.x == 1""#),
        "`policy.rules[0].when` asks for `arg` at character 1, which does not exist\nhint: did you mean `args`?",
    );
    check(
        &(rule(r#"name = "a""#) + &rule(r#"name = "a""#)),
        "`policy.rules[1].name` is `a`, as of a rule before it\nhint: records name the rule that decided: choose another name",
    );
    check(
        &rule(r#"name = """#),
        "`policy.rules[0].name` is ``, which is no name\nhint: use 1 to 64 visible characters",
    );
    check(
        &rule(r#"name = "default""#),
        "`policy.rules[0].name` is `default`, which stands for something else\nhint: choose another name",
    );
}

#[test]
fn every_mistake_in_another_table_is_named_with_its_key_and_what_to_write() {
    check(
        "[principals.\"a@b.c\"]\nprofile = \"leen\"\nroles = [\"x\"]\n[profiles.lean]",
        "`principals.\"a@b.c\".roles[0]` names the role `x`, which does not exist\nhint: add `[roles.x]`, be it empty\n\
         `principals.\"a@b.c\".profile` is `leen`, which is no profile\nhint: did you mean `lean`?",
    );
    check(
        "[profiles.\"a/b\"]\nhides = [\"x:y\"]",
        "`profiles.\"a/b\"` is no name for a profile\nhint: it is a part of an address: use letters, digits, `-` and `_`\n\
         `profiles.\"a/b\".hides[0]` is no pattern: `x:y` is of no kind that exists\nhint: a pattern is a tool's name, or begins with `tool:`, `resource:`, `prompt:`, `completion:`, `subscription:`, `task:`, `method:` or `*:`",
    );
    check(
        "[limits]\nrate = 0\nburst = 0\nconcurrent = 0",
        "`limits.rate` is 0, not from 0.0001 to 1000000\nhint: it is a number of requests a second; `limits.enabled = false` lifts all limits\n\
         `limits.burst` is 0, not from 1 to 100000\nhint: it is a number of requests at once; `limits.enabled = false` lifts all limits\n\
         `limits.concurrent` is 0, not from 1 to 1000000\nhint: it is how many calls a source answers at once",
    );
    check(
        "[[limits.targets]]\ntargets = [\"\"]\nrate = -1\nburst = 1\n[principals.a]\nburst = 200000",
        "`principals.a.burst` is 200000, not from 1 to 100000\nhint: it is a number of requests at once; `limits.enabled = false` lifts all limits\n\
         `limits.targets[0].targets[0]` is no pattern: `` names nothing\nhint: write a name, or `*` for all of them\n\
         `limits.targets[0].rate` is -1, not from 0.0001 to 1000000\nhint: it is a number of requests a second; `limits.enabled = false` lifts all limits",
    );
}

#[test]
fn a_name_that_looks_like_a_mistake_is_a_warning() {
    let text =
        "[[policy.rules]]\nthen = \"deny\"\nprincipals = [\"alicee\", \"zoe\", \"*\"]\n[principals.alice]";
    let compiled = tables(text).load().unwrap();
    assert_eq!(compiled.warnings(), ["`policy.rules[0].principals[0]` is `alicee`; did you mean `alice`?"]);
}

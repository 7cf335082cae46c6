//! Rules and profiles in a running server.

use serde_json::json;

use super::Desk;
use crate::process::{Place, run, until};

const RULES: &str = r#"
[[policy.rules]]
name = "no-env"
then = "deny"
when = 'has(args.path) && args.path.endsWith(".env")'
reason = "secrets live there"

[[policy.rules]]
name = "no-writes"
then = "deny"
read_only = false

[profiles.notes]
shows = ["memory_*"]
"#;

#[test]
fn a_rule_denies_by_argument_and_hides_what_nothing_could_pass() {
    let desk = Desk::start(RULES);
    assert_eq!(desk.text("workspace_read", &json!({"path": "a.txt"})), "first");
    let denied = desk.text("workspace_read", &json!({"path": ".env"}));
    assert!(denied.contains("`no-env`") && denied.contains("secrets live there"), "{denied}");
    let mut tools = desk.tools("/mcp", None);
    let ours = ["workspace_", "memory_", "web_", "script_"];
    tools.retain(|tool| ours.iter().any(|pack| tool.starts_with(pack)));
    let reading =
        ["workspace_list", "workspace_read", "memory_read", "web_fetch", "script_list", "script_reload"];
    assert_eq!(tools, reading);
    let hidden = desk.call("workspace_write", &json!({"path": "b", "content": "x"}));
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
}

#[test]
fn resources_pass_the_same_rules() {
    let desk = Desk::start("[[policy.rules]]\nthen = \"deny\"\ntargets = [\"resource:*\"]\n");
    let list = desk.request("resources/list", &json!({}));
    assert_eq!(list["result"]["resources"], json!([]), "{list}");
    let read = desk.request("resources/read", &json!({"uri": "workspace:///a.txt"}));
    assert!(read["error"].is_object(), "{read}");
}

#[test]
fn a_profile_is_a_view_of_its_own() {
    let desk = Desk::start(RULES);
    assert_eq!(desk.tools("/p/notes/mcp", None), ["memory_read"]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    assert_eq!(desk.server.post(list).path("/p/other/mcp").send().status, 404);
}

#[test]
fn a_changed_policy_is_in_force_at_once_and_a_broken_one_changes_nothing() {
    let desk = Desk::start(RULES);
    desk.write_config(&RULES.replace("endsWith(\".env\")", "endsWith(\"\")"));
    let denied = || desk.text("workspace_read", &json!({"path": "a.txt"})).contains("`no-env`");
    until("the new rule is in force", denied);
    desk.write_config(&RULES.replace("endsWith(\".env\")", "endsWith("));
    let health = || desk.server.get("/health").send().text();
    until("the broken rule is told", || health().contains("degraded"));
    assert!(denied(), "the old rule stays in force");
    until("the log names the place", || {
        let told = desk.server.log();
        told.contains("toolgate.toml:5:") && told.contains("policy.rules[0].when")
    });
}

#[test]
fn a_mistake_in_a_policy_is_named_with_its_place_and_what_to_write() {
    for (toml, place, words) in [
        ("[[policy.rules]]\nthen = \"refuse\"\n", ":2:", "refuse"),
        ("[[policy.rules]]\nthen = \"deny\"\ntarget = [\"x\"]\n", ":3:", "targets"),
        ("[[policy.rules]]\nthen = \"deny\"\nwhen = \"args.(\"\n", ":3:", "when"),
        ("[roles.ops]\n[principals.alice]\nroles = [\"opps\"]\n", ":3:", "ops"),
        ("[principals.alice]\nprofile = \"lean\"\n", ":2:", "[profiles.lean]"),
    ] {
        let place_ = Place::configured(toml);
        let ended = run(place_.toolgate(&["config", "check"]), b"");
        assert_eq!(ended.code, 2, "{toml}: {}", ended.stdout);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains(place) && told.contains(words), "{toml}\n{told}");
    }
}

#[test]
fn explain_tells_which_rule_decides_and_test_checks_a_file_of_expectations() {
    let desk = Desk::start(RULES);
    let explained = desk.command(&["policy", "explain", "local", "workspace_read", "path=.env"]);
    assert_eq!(explained.code, 1);
    assert!(explained.stdout.contains("no-env") && explained.stdout.contains("deny"), "{}", explained.stdout);
    assert_eq!(desk.command(&["policy", "explain", "local", "workspace_read", "path=a.txt"]).code, 0);
    let unknown = desk.command(&["policy", "explain", "local", "workspace_raed"]);
    let note = "note: there is no tool `workspace_raed` now; did you mean `workspace_read`?";
    assert_eq!((unknown.code, unknown.stderr.trim()), (0, note));
    let expectations = r#"
[[expect]]
principal = "local"
target = "workspace_read"
args = { path = "a.txt" }
gives = "allow"

[[expect]]
principal = "local"
target = "workspace_write"
gives = "hidden"
rule = "no-writes"
"#;
    std::fs::write(desk.home.join("policy.test.toml"), expectations).unwrap();
    let tested = desk.command(&["policy", "test", "policy.test.toml"]);
    assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
    std::fs::write(desk.home.join("policy.test.toml"), expectations.replace("\"allow\"", "\"deny\""))
        .unwrap();
    let tested = desk.command(&["policy", "test", "policy.test.toml"]);
    assert_eq!(tested.code, 1, "{}", tested.stdout);
    assert!(tested.stdout.contains("line 2"), "{}", tested.stdout);
}

#[test]
fn calls_beyond_the_limit_are_told_when_to_come_again() {
    let desk = Desk::start("[limits]\nrate = 0.01\nburst = 3\n");
    for _ in 0..3 {
        assert_eq!(desk.text("workspace_read", &json!({"path": "a.txt"})), "first");
    }
    for (method, params) in [
        ("tools/call", json!({"name": "workspace_read", "arguments": {"path": "a.txt"}})),
        ("tools/list", json!({})),
    ] {
        let refused = desk.request(method, &params);
        assert_eq!(refused["error"]["code"], -32000, "{refused}");
        assert_eq!(refused["error"]["message"], "Rate limit exceeded. Please try again later.");
        let wait = refused["error"]["data"]["retryAfterMs"].as_u64().unwrap();
        assert!((1..=100_000).contains(&wait), "{wait}");
    }
    assert_eq!(desk.request("ping", &json!({}))["result"], json!({}), "a ping is free");
    assert!(desk.server.metric("toolgate_limited_total{limit=\"rate\"}") >= 2);
    desk.write_config("[limits]\nenabled = false\n");
    until("the limits are off", || {
        let answer = desk.call("workspace_read", &json!({"path": "a.txt"}));
        answer["result"].is_object()
    });
}

//! What the real OpenCode gets wrong, or says badly: each is an error that can be understood.

use serde_json::{Value, json};
use toolgate_core::Kind;
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy};

use crate::stage::{STAGE, fails};

#[track_caller]
fn check(tool: &str, arguments: Value, kind: Kind, words: &str) {
    let stage = &*STAGE;
    let error = stage.run(stage.fails(tool, arguments));
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(words), "{error}");
    assert!(error.next_step().is_some(), "{error} has no hint");
}

#[test]
fn unknown_sessions_models_agents_and_files_are_named() {
    let unknown = "ses_000000000000000000000000000";
    for tool in ["opencode_session_abort", "opencode_session_share"] {
        check(tool, json!({"sessionId": unknown}), Kind::SessionNotFound, unknown);
        check(tool, json!({"sessionId": "../config"}), Kind::InvalidInput, "no id of a session");
    }
    let prompt = json!({"sessionId": unknown, "prompt": "x"});
    check("opencode_session_prompt", prompt, Kind::SessionNotFound, unknown);
    let run = |key: &str, value: Value| {
        let mut arguments = json!({"prompt": "x"});
        arguments[key] = value;
        arguments
    };
    check("opencode_run", run("model", json!("nope/fake-1")), Kind::InvalidInput, "no provider `nope`");
    check("opencode_run", run("model", json!("fake/fake-9")), Kind::InvalidInput, "no model `fake-9`");
    check("opencode_run", run("model", json!("fake")), Kind::InvalidInput, "expected `provider/model`");
    check("opencode_run", run("agent", json!("biuld")), Kind::AgentNotFound, "no agent `biuld`");
    check("opencode_run", run("files", json!(["nope.txt"])), Kind::FileNotFound, "nope.txt");
    check("opencode_run", run("files", json!(["../x"])), Kind::InvalidInput, "../x");
    check("opencode_run", run("files", json!(["/etc/passwd"])), Kind::Denied, "/etc/passwd");
    check("opencode_run", run("workingDirectory", json!("/nowhere")), Kind::InvalidInput, "is no folder");
    check("opencode_run", json!({"prompt": " "}), Kind::InvalidInput, "`prompt` is empty");
}

#[test]
fn a_model_that_fails_is_a_failure_and_the_session_lives_on() {
    let stage = &*STAGE;
    let made = stage.run(stage.call("opencode_session_create", json!({"title": "Failing"})));
    let prompt = |words: &str| json!({"sessionId": made["sessionId"], "prompt": words});
    for _ in 0..3 {
        check(
            "opencode_session_prompt",
            prompt("fail now"),
            Kind::Upstream,
            "the fake model is out of order",
        );
        let out = stage.run(stage.call("opencode_session_prompt", prompt("and now")));
        assert_eq!((&out["content"], &out["sessionId"]), (&json!("ECHO: and now"), &made["sessionId"]));
    }
}

#[test]
fn the_reason_behind_an_opaque_error_is_found_in_the_log() {
    let stage = &*STAGE;
    let id =
        stage.run(stage.call("opencode_session_create", json!({"title": "Unshared"})))["sessionId"].clone();
    let share = json!({"sessionId": id});
    check("opencode_session_share", share, Kind::Upstream, "Sharing is disabled in configuration");
}

#[test]
fn a_server_that_is_not_there_is_a_failed_connection_with_a_way_out() {
    #[track_caller]
    fn check(config: OpencodeConfig, kind: Kind, words: &str) {
        let stage = &*STAGE;
        let (hub, _) = stage.other(config);
        let error = stage.run(fails(&hub, call(client_legacy(), "opencode_session_list", json!({}))));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error}");
        assert!(error.next_step().is_some(), "{error}");
    }
    let url = |url: &str| OpencodeConfig { server_url: Some(url.into()), ..OpencodeConfig::default() };
    check(url("http://127.0.0.1:9"), Kind::ConnectionFailed, "`http://127.0.0.1:9` cannot be reached");
    check(url("ftp://x"), Kind::ConnectionFailed, "no address of a server");
    let off = OpencodeConfig { auto_start: false, ..OpencodeConfig::default() };
    check(off, Kind::ConnectionFailed, "none may be started");
    let broken = OpencodeConfig { program: Some("/bin/false".into()), ..OpencodeConfig::default() };
    check(broken, Kind::ConnectionFailed, "ended before it listened");
    let missing = OpencodeConfig { program: Some("/nowhere/opencode".into()), ..OpencodeConfig::default() };
    check(missing, Kind::ConnectionFailed, "cannot be started");
}

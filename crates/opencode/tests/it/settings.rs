//! Changes of OpenCode's configuration: written with comments kept, taken up, and seen in its own answers.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Event, Kind};
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy};

use crate::stage::{STAGE, fails};

/// A project with a configuration of its own that has a comment.
fn project(name: &str) -> PathBuf {
    let folder = STAGE.project.join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join("opencode.jsonc"),
        "{\n  // mine, do not touch\n  \"username\": \"me\", // kept\n}\n",
    )
    .unwrap();
    folder
}

struct Scene(PathBuf);

impl Scene {
    fn with(&self, mut arguments: Value) -> Value {
        arguments["workingDirectory"] = self.0.to_str().unwrap().into();
        arguments
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let stage = &*STAGE;
        stage.run(stage.call(tool, self.with(arguments)))
    }

    #[track_caller]
    fn refused(&self, tool: &str, arguments: Value, kind: Kind) {
        let stage = &*STAGE;
        let error = stage.run(stage.fails(tool, self.with(arguments)));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!error.suggestions().is_empty(), "{error}");
    }

    fn file(&self) -> String {
        fs::read_to_string(self.0.join("opencode.jsonc")).unwrap()
    }
}

#[test]
fn a_project_s_configuration_is_changed_and_keeps_its_comments() {
    let scene = Scene(project("configured"));
    let change = json!({"tool": "webfetch", "permission": "deny", "scope": "project"});
    let out = scene.call("opencode_permission_set", change);
    assert_eq!(out["changed"], json!(["permission.webfetch"]));
    scene.call(
        "opencode_tool_configure",
        json!({"tools": {"websearch": false}, "agent": "plan", "scope": "project"}),
    );
    let options = json!({"provider": "fake", "model": "deep/er/name", "options": {"temperature": 0.5}, "scope": "project"});
    scene.call("opencode_model_configure", options);
    scene.call("opencode_config_update", json!({"defaultAgent": "plan", "scope": "project"}));
    let text = scene.file();
    assert!(text.contains("// mine, do not touch") && text.contains("// kept"), "{text}");
    let config = scene.call("opencode_config_get", json!({}));
    assert_eq!(config["merged"]["permission"]["webfetch"], "deny", "{config}");
    assert_eq!(config["merged"]["agent"]["plan"]["tools"]["websearch"], false);
    assert_eq!(config["merged"]["provider"]["fake"]["models"]["deep/er/name"]["options"]["temperature"], 0.5);
    assert_eq!(config["merged"]["provider"]["fake"]["options"]["apiKey"], "[REDACTED]");
    assert_eq!(
        (&config["merged"]["username"], &config["merged"]["default_agent"]),
        (&json!("me"), &json!("plan"))
    );
    scene.refused("opencode_permission_set", json!({"tool": "x", "permission": "maybe"}), Kind::InvalidInput);
    let tools = json!({"tools": {"bash": true}, "agent": "nope"});
    scene.refused("opencode_tool_configure", tools, Kind::AgentNotFound);
    scene.refused("opencode_tool_configure", json!({"tools": {}}), Kind::InvalidInput);
    scene.refused("opencode_tool_configure", json!({"tools": {"": true}}), Kind::InvalidInput);
    let options = json!({"provider": "fake", "model": "fake-1", "options": {}});
    scene.refused("opencode_model_configure", options, Kind::InvalidInput);
    scene.refused("opencode_permission_set", json!({"tool": "", "permission": "ask"}), Kind::InvalidInput);
    scene.refused("opencode_config_update", json!({"model": "nope/x"}), Kind::InvalidInput);
    scene.refused("opencode_config_update", json!({}), Kind::InvalidInput);
}

#[test]
fn mcp_servers_are_added_switched_and_removed() {
    let scene = Scene(project("servers"));
    let add = json!({"name": "nothing", "type": "local", "command": ["/bin/false"], "scope": "project"});
    let out = scene.call("opencode_mcp_add", add.clone());
    assert_eq!(out["status"], "failed", "{out}");
    scene.refused("opencode_mcp_add", add, Kind::InvalidInput);
    // It counts for those it is written for.
    let off = scene.call("opencode_mcp_enable", json!({"name": "nothing", "enabled": false}));
    assert_eq!((&off["status"], &off["file"]), (&json!("disabled"), &json!(scene.0.join("opencode.jsonc"))));
    let listed = scene.call("opencode_mcp_list", json!({}));
    let server = json!({"name": "nothing", "status": "disabled", "type": "local", "configured": true});
    assert_eq!(listed["items"], json!([server]));
    let global = json!({"name": "nothing", "scope": "global", "force": true});
    let other = STAGE.run(STAGE.fails("opencode_mcp_remove", scene.with(global)));
    assert_eq!(other.kind(), Kind::InvalidInput, "{other}");
    assert!(other.next_step().unwrap().contains("the other scope"), "{other}");
    let out = scene.call("opencode_mcp_remove", json!({"name": "nothing"}));
    assert_eq!(out["status"], "removed");
    assert_eq!(scene.call("opencode_mcp_list", json!({}))["items"], json!([]));
    assert!(scene.file().contains("// mine"), "{}", scene.file());
    scene.refused("opencode_mcp_remove", json!({"name": "nothing"}), Kind::Upstream);
    scene.refused("opencode_mcp_enable", json!({"name": "nothing", "enabled": true}), Kind::Upstream);
    scene.refused("opencode_mcp_add", json!({"name": "x", "type": "local"}), Kind::InvalidInput);
    scene.refused("opencode_mcp_add", json!({"name": "x", "type": "remote", "url": "y"}), Kind::InvalidInput);
}

#[test]
fn models_providers_and_tools_are_listed_and_keys_are_kept() {
    let scene = Scene(project("listed"));
    let models = scene.call("opencode_model_list", json!({"provider": "fake"}));
    let names: Vec<&Value> = models["items"].as_array().unwrap().iter().map(|item| &item["model"]).collect();
    assert_eq!(names, [&json!("fake/fake-1"), &json!("fake/deep/er/name")]);
    scene.refused("opencode_model_list", json!({"provider": "nope"}), Kind::InvalidInput);
    let providers = scene.call("opencode_provider_list", json!({}));
    assert_eq!(
        (&providers["items"][0]["id"], &providers["items"][0]["connected"]),
        (&json!("fake"), &json!(true))
    );
    let tools = scene.call("opencode_tool_list", json!({}));
    assert!(tools["items"].as_array().unwrap().contains(&json!({"name": "bash"})), "{tools}");
    let tools = scene.call("opencode_tool_list", json!({"provider": "fake", "model": "fake-1"}));
    assert!(
        tools["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == "read" && tool["description"] != "")
    );
    scene.refused("opencode_tool_list", json!({"provider": "fake"}), Kind::InvalidInput);
    let key = json!({"provider": "fake", "type": "api", "key": "sk-of-a-test"});
    let out = scene.call("opencode_auth_set", key);
    assert!(!out.to_string().contains("sk-of"), "{out}");
    let kept = || fs::read_to_string(STAGE.home.join(".local/share/opencode/auth.json")).unwrap();
    assert!(kept().contains("sk-of-a-test"), "it is not kept");
    // A token without an end has not expired.
    let token = json!({"provider": "fake", "type": "oauth", "token": "tk-of-a-test"});
    let out = scene.call("opencode_auth_set", token);
    assert!(!out.to_string().contains("tk-of"), "{out}");
    let kept: Value = serde_json::from_str(&kept()).unwrap();
    assert_eq!((&kept["fake"]["type"], &kept["fake"]["access"]), (&json!("oauth"), &json!("tk-of-a-test")));
    let now = toolgate_host::Clock::system().unix_ms();
    assert!(kept["fake"]["expires"].as_u64().unwrap() > now, "{kept}");
    scene.refused("opencode_auth_set", json!({"provider": "fake", "type": "oauth"}), Kind::InvalidInput);
    scene.refused("opencode_auth_set", json!({"provider": "fake", "type": "api"}), Kind::InvalidInput);
    scene.refused(
        "opencode_auth_set",
        json!({"provider": "no", "type": "api", "key": "x"}),
        Kind::InvalidInput,
    );
}

#[test]
fn a_change_waits_for_sessions_that_work() {
    let (stage, scene, calm) = (&*STAGE, Scene(project("busy")), Scene(project("calm")));
    let made = stage.run(stage.call("opencode_session_create", scene.with(json!({"title": "Busy"}))));
    let id = made["sessionId"].as_str().unwrap();
    let arguments = json!({"sessionId": id, "prompt": "think slowly"});
    let run = stage.run(async {
        let mut run = stage.hub.start(call(client_legacy(), "opencode_session_prompt", arguments));
        while let Some(event) = run.next().await {
            if matches!(&event, Event::Progress(progress) if progress.0.as_str().contains("thinking")) {
                break;
            }
        }
        run
    });
    let change = |scope: &str| json!({"tool": "webfetch", "permission": "deny", "scope": scope});
    // What counts for all projects stops also what works in another.
    for (scene, scope) in [(&scene, "project"), (&scene, "global"), (&calm, "global")] {
        let error = stage.run(stage.fails("opencode_permission_set", scene.with(change(scope))));
        assert_eq!(error.kind(), Kind::InvalidInput, "{error}");
        assert!(error.message().contains(id), "{scope}: {error}");
        assert!(error.next_step().unwrap().contains("`force`"), "{error}");
        assert!(!scene.file().contains("webfetch"), "{}", scene.file());
    }
    calm.call("opencode_permission_set", change("project"));
    let mut forced = change("project");
    forced["force"] = true.into();
    scene.call("opencode_permission_set", forced);
    let outcome = stage.run(run.outcome());
    assert!(format!("{outcome:?}").contains("the session was stopped before it answered"), "{outcome:?}");
}

#[test]
fn changes_at_once_are_all_kept() {
    let (stage, scene) = (&*STAGE, Scene(project("at-once")));
    let names: Vec<String> = (0..4).map(|number| format!("tool_{number}")).collect();
    stage.run(async {
        let runs: Vec<_> = names
            .iter()
            .map(|name| {
                let change = json!({"tool": name, "permission": "deny", "scope": "project"});
                stage.hub.start(call(client_legacy(), "opencode_permission_set", scene.with(change)))
            })
            .collect();
        for run in runs {
            stage.result(toolgate_testkit::drive(run, []).await);
        }
    });
    for name in &names {
        assert!(scene.file().contains(name), "{}", scene.file());
    }
}

#[test]
fn what_opencode_refuses_is_taken_back() {
    let scene = Scene(project("refused"));
    let before = scene.file();
    let odd = json!({"provider": "fake", "model": "fake-1", "options": {"big": 1}, "scope": "project"});
    scene.call("opencode_model_configure", odd);
    let after = scene.file();
    assert_ne!(before, after);
    // More than it can count to.
    let add = json!({"name": "late", "type": "local", "command": ["/bin/false"], "timeout": u64::MAX, "scope": "project"});
    let error = STAGE.run(STAGE.fails("opencode_mcp_add", scene.with(add)));
    assert_eq!(scene.file(), after, "{error}");
    let models = scene.call("opencode_model_list", json!({"provider": "fake"}));
    assert!(!models["items"].as_array().unwrap().is_empty(), "it is as it was");
    let zero = json!({"name": "late", "type": "local", "command": ["x"], "timeout": 0, "scope": "project"});
    scene.refused("opencode_mcp_add", zero, Kind::InvalidInput);
    let file = |value: &str| json!({"provider": "fake", "model": "fake-1", "options": {"x": value}, "scope": "project"});
    scene.refused("opencode_model_configure", file("{file:/etc/passwd}"), Kind::InvalidInput);
    scene.refused("opencode_model_configure", file("{env:HOME}"), Kind::InvalidInput);
    assert_eq!(scene.file(), after);
    let headers = json!({"Authorization": "Bearer {env:OPENCODE_NO_KEY}"});
    let add = json!({"name": "far", "type": "remote", "url": "http://127.0.0.1:9/mcp", "headers": headers,
        "enabled": false, "scope": "project"});
    assert_eq!(scene.call("opencode_mcp_add", add)["status"], "disabled");
}

#[test]
fn what_is_refused_for_all_projects_is_taken_back_too() {
    let scene = Scene(project("nearer"));
    scene
        .call("opencode_permission_set", json!({"tool": "nearer", "permission": "deny", "scope": "project"}));
    // On a server of its own: a change for all projects stops whatever works on it.
    let (hub, tasks) = STAGE.other(OpencodeConfig::default());
    let file = |folder: &str| {
        let folder = STAGE.home.join(folder);
        ["opencode.jsonc", "opencode.json"]
            .map(|name| fs::read_to_string(folder.join(name)).unwrap_or_default())
            .concat()
    };
    let change = json!({"tool": "nearer", "permission": "allow", "scope": "global", "force": true});
    let change = call(client_legacy(), "opencode_permission_set", scene.with(change));
    let error = STAGE.run(fails(&hub, change));
    assert_eq!(error.kind(), Kind::Upstream, "{error}");
    assert!(!file(".config/opencode").contains("nearer"), "{}", file(".config/opencode"));
    STAGE.run(tasks.shutdown(Duration::from_secs(30)));
}

#[test]
fn what_another_file_says_too_is_removed_from_this_one() {
    let above = project("above");
    let deep = Scene(project("above/deep"));
    let server = r#"{"mcp": {"twice": {"type": "local", "command": ["/bin/false"], "enabled": false}}}"#;
    for folder in [&above, &deep.0] {
        fs::write(folder.join("opencode.jsonc"), server).unwrap();
    }
    deep.refused("opencode_mcp_remove", json!({"name": "twice", "scope": "project"}), Kind::Upstream);
    assert!(!deep.file().contains("twice"), "{}", deep.file());
    assert!(fs::read_to_string(above.join("opencode.jsonc")).unwrap().contains("twice"));
}

#[test]
fn a_rule_counts_also_where_one_word_stands_for_all() {
    let scene = Scene(project("one-word"));
    // With a schema: OpenCode itself writes a file anew that has none.
    let open = r#"{
  "$schema": "https://opencode.ai/config.json",
  // mine
  "permission": "allow",
  "agent": {"plan": {"permission": "ask"}}
}
"#;
    fs::write(scene.0.join("opencode.jsonc"), open).unwrap();
    let made = scene.0.join("made.txt");
    let write = || {
        let prompt = format!("write a file: {}", made.display());
        scene.call("opencode_run", json!({"prompt": prompt}));
        made.exists()
    };
    // The word for all stands behind it, and counts for more.
    let off = json!({"tools": {"write": false}, "scope": "project"});
    let error = STAGE.run(STAGE.fails("opencode_tool_configure", scene.with(off)));
    assert_eq!(error.kind(), Kind::Upstream, "{error}");
    assert!(error.next_step().unwrap().contains("`opencode_permission_set` for `edit`"), "{error}");
    assert_eq!(scene.file(), open);
    let deny = json!({"tool": "edit", "permission": "deny", "scope": "project"});
    scene.call("opencode_permission_set", deny);
    assert!(
        scene.file().contains("// mine") && scene.file().contains("\"*\": \"allow\""),
        "{}",
        scene.file()
    );
    assert!(!write(), "it is denied");
    scene.call("opencode_permission_set", json!({"tool": "edit", "permission": "allow", "scope": "project"}));
    assert!(write(), "it is allowed");
    let plan = json!({"tool": "webfetch", "permission": "deny", "agent": "plan", "scope": "project"});
    scene.call("opencode_permission_set", plan);
    let config = scene.call("opencode_config_get", json!({}));
    let rules = json!({"*": "ask", "webfetch": "deny"});
    assert_eq!(config["merged"]["agent"]["plan"]["permission"], rules, "{config}");
}

#[test]
fn a_file_that_is_not_utf_8_is_left_alone() {
    let scene = Scene(project("latin"));
    // With a schema: OpenCode itself writes a file anew that has none.
    let bytes = b"{\n  \"$schema\": \"https://opencode.ai/config.json\" // caf\xe9\n}\n";
    fs::write(scene.0.join("opencode.jsonc"), bytes).unwrap();
    scene.refused(
        "opencode_permission_set",
        json!({"tool": "x", "permission": "deny", "scope": "project"}),
        Kind::InvalidInput,
    );
    assert_eq!(fs::read(scene.0.join("opencode.jsonc")).unwrap(), bytes);
}

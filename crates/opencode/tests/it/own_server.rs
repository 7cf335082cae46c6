//! A server of its own, with a configuration in a place of its own.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Hub, Kind};
use toolgate_opencode::OpencodeConfig;
use toolgate_testkit::{call, client_legacy, drive};

use crate::stage::{STAGE, fails};

/// Calls a tool of the hub.
async fn done(hub: &Hub, tool: &str, arguments: Value) -> Value {
    STAGE.result(drive(hub.start(call(client_legacy(), tool, arguments)), []).await)
}

async fn refused(hub: &Hub, tool: &str, arguments: Value, kind: Kind) {
    let error = fails(hub, call(client_legacy(), tool, arguments)).await;
    assert_eq!(error.kind(), kind, "{error}");
    assert!(!error.suggestions().is_empty(), "{error}");
}

#[test]
fn what_is_changed_is_what_the_server_reads_and_a_skill_is_listed() {
    let stage = &*STAGE;
    let (project, elsewhere) = (stage.home.join("own"), stage.home.join("elsewhere"));
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let file = elsewhere.join("mine.jsonc");
    fs::write(&file, "{\n  // mine\n  \"username\": \"elsewhere\",\n}\n").unwrap();
    let config = OpencodeConfig {
        config_path: Some(file.clone()),
        default_project: Some(project.clone()),
        ..OpencodeConfig::default()
    };
    let (hub, tasks) = stage.other(config);
    let text = || fs::read_to_string(&file).unwrap();
    stage.run(async {
        let config = done(&hub, "opencode_config_get", json!({})).await;
        assert_eq!(config["merged"]["username"], "elsewhere", "{config}");
        let deny = json!({"tool": "websearch", "permission": "deny"});
        let out = done(&hub, "opencode_permission_set", deny).await;
        assert_eq!(out["file"], json!(file), "{out}");
        assert!(text().contains("// mine") && text().contains("websearch"), "{}", text());
        let config = done(&hub, "opencode_config_get", json!({})).await;
        assert_eq!(config["merged"]["permission"]["websearch"], "deny", "{config}");

        let add = json!({"name": "nothing", "type": "local", "command": ["/bin/false"]});
        done(&hub, "opencode_mcp_add", add).await;
        assert!(text().contains("/bin/false"), "{}", text());
        done(&hub, "opencode_mcp_remove", json!({"name": "nothing"})).await;
        assert!(text().contains("// mine") && !text().contains("/bin/false"), "{}", text());

        // What counts for one project stays there.
        let ask = json!({"tool": "webfetch", "permission": "ask", "scope": "project"});
        let out = done(&hub, "opencode_permission_set", ask).await;
        assert_eq!(out["file"], json!(project.join("opencode.jsonc")), "{out}");
        skills(&hub).await;
        tasks.shutdown(Duration::from_secs(30)).await;
    });
}

async fn skills(hub: &Hub) {
    let skill = json!({"name": "tell-jokes", "description": "Jokes: \"good\" ones", "content": "Be funny."});
    let out = done(hub, "opencode_skill_create", skill.clone()).await;
    assert_eq!(out["listed"], true);
    let out = done(hub, "opencode_skill_load", json!({"name": "tell-jokes"})).await;
    assert_eq!(out["description"], "Jokes: \"good\" ones");
    assert!(out["content"].as_str().unwrap().contains("Be funny."), "{out}");
    let listed = done(hub, "opencode_skill_list", json!({})).await;
    assert!(listed["items"].as_array().unwrap().iter().any(|item| item["name"] == "tell-jokes"), "{listed}");
    refused(hub, "opencode_skill_create", skill, Kind::InvalidInput).await;
    let bad = json!({"name": "../x", "description": "x", "content": "x"});
    refused(hub, "opencode_skill_create", bad, Kind::InvalidInput).await;
    refused(hub, "opencode_skill_load", json!({"name": "tell-joke"}), Kind::SkillNotFound).await;
}

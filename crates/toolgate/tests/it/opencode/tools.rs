//! Every tool over both transports, and what OpenCode has afterwards.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::{Scene, Way};
use crate::process::{Server, Stdio, TOOLGATE, until};

/// A client at work, and the tools that it has used.
struct Work<'a> {
    scene: &'a Scene,
    way: RefCell<Way>,
    /// For whom changes of the configuration count.
    scope: &'static str,
    used: RefCell<BTreeSet<String>>,
}

impl Work<'_> {
    #[track_caller]
    fn done(&self, tool: &str, arguments: Value) -> Value {
        let tool = format!("opencode_{tool}");
        self.used.borrow_mut().insert(tool.clone());
        self.way.borrow_mut().done(&tool, arguments)
    }

    /// Changes the configuration, and gives what OpenCode then says of its own.
    #[track_caller]
    fn change(&self, tool: &str, mut arguments: Value) -> Value {
        arguments["scope"] = self.scope.into();
        let out = self.done(tool, arguments);
        let file = fs::read_to_string(out["file"].as_str().unwrap()).unwrap();
        if self.scope == "project" {
            assert!(file.contains("// mine") && file.contains("\"username\": \"me\""), "{file}");
            return self.scene.own("/config");
        }
        assert!(out["file"].as_str().unwrap().contains("/.config/opencode/"), "{out}");
        self.scene.own("/global/config")
    }

    fn sessions(&self) {
        let scene = self.scene;
        let made = json!({"title": "Made", "agent": "plan", "model": "fake/deep/er/name"});
        let out = self.done("session_create", made);
        let id = out["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(scene.own(&format!("/session/{id}"))["title"], "Made");
        let messages = || scene.own(&format!("/session/{id}/message")).to_string();
        self.done("session_prompt", json!({"sessionId": id, "prompt": "one", "files": ["notes.txt"]}));
        for part in ["ECHO: one", "made of cheese", "deep/er/name"] {
            assert!(messages().contains(part), "{part}: {}", messages());
        }
        let delegated = json!({"sessionId": id, "agent": "build", "prompt": "two"});
        assert_eq!(self.done("agent_delegate", delegated)["agent"], "build");
        assert!(messages().contains("ECHO: two"), "{}", messages());
        let listed = self.done("session_list", json!({}));
        let own = scene.own("/session");
        assert_eq!(listed["items"].as_array().unwrap().len(), own.as_array().unwrap().len());

        let file = scene.path("made.txt");
        let out = self.done("run", json!({"prompt": format!("write a file: {file}")}));
        assert_eq!(fs::read_to_string(&file).unwrap(), "written by the model\n");
        assert_eq!((&out["directorySource"], &out["tools"][0]["tool"]), (&json!("env"), &json!("write")));

        let slow = json!({"parts": [{"type": "text", "text": "think slowly"}]});
        scene.tell(&format!("/session/{id}/prompt_async"), &slow);
        until("the session works", || scene.is_busy(&id));
        let out = self.done("session_abort", json!({"sessionId": id}));
        assert_eq!((&out["wasBusy"], &out["idle"]), (&json!(true), &json!(true)));
        assert!(!scene.is_busy(&id));

        // The configuration forbids it, and so does the network.
        self.used.borrow_mut().insert("opencode_session_share".into());
        let shared = self.way.borrow_mut().call("opencode_session_share", json!({"sessionId": id}));
        assert_eq!(shared["isError"], true, "{shared}");
        assert_eq!(scene.own(&format!("/session/{id}"))["share"], Value::Null);
    }

    fn files(&self) {
        let scene = self.scene;
        let out = self.done("file_read", json!({"path": "notes.txt"}));
        assert_eq!(out["content"], fs::read_to_string(scene.path("notes.txt")).unwrap());
        let out = self.done("file_search", json!({"pattern": "moon.*cheese"}));
        assert_eq!(out["items"][0]["path"], "notes.txt");
        let out = self.done("find_files", json!({"query": "notes"}));
        let own = scene.own("/find/file?query=notes");
        assert!(own.as_array().unwrap().contains(&out["items"][0]), "{out} {own}");
        fs::write(scene.path("lib.rs"), "pub struct Moon;\n").unwrap();
        let out = self.done("find_symbols", json!({"query": "moon"}));
        assert_eq!(out["items"][0], json!({"name": "Moon", "kind": "struct", "path": "lib.rs", "line": 1}));
        let out = self.done("file_status", json!({}));
        let own = scene.own("/vcs/status");
        assert_eq!(out["items"].as_array().unwrap().len(), own.as_array().unwrap().len(), "{out} {own}");
    }

    fn lists(&self) {
        let scene = self.scene;
        let ids = |items: &Value, key: &str| -> BTreeSet<String> {
            items.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
        };
        let models = self.done("model_list", json!({}));
        let own = scene.own("/config/providers");
        let count = own["providers"][0]["models"].as_object().unwrap().len();
        assert_eq!(models["items"].as_array().unwrap().len(), count, "{models}");
        let providers = self.done("provider_list", json!({}));
        assert_eq!(ids(&providers["items"], "id"), ids(&scene.own("/provider")["all"], "id"));
        let agents = self.done("agent_list", json!({}));
        assert!(ids(&agents["items"], "name").is_subset(&ids(&scene.own("/agent"), "name")), "{agents}");
        let tools = self.done("tool_list", json!({}));
        let own = scene.own("/experimental/tool/ids");
        assert_eq!(tools["items"].as_array().unwrap().len(), own.as_array().unwrap().len());
        let config = self.done("config_get", json!({}));
        assert_eq!(config["merged"]["username"], scene.own("/config")["username"]);
        assert!(scene.own("/config").to_string().contains("sk-fake"), "there is something to hide");
        assert!(!config.to_string().contains("sk-fake"), "{config}");
    }

    fn settings(&self) {
        let heat = if self.scope == "global" { 0.25 } else { 0.5 };
        let options = json!({"provider": "fake", "model": "fake-1", "options": {"temperature": heat}});
        let now = self.change("model_configure", options);
        assert_eq!(now["provider"]["fake"]["models"]["fake-1"]["options"]["temperature"], heat, "{now}");
        let now = self.change("config_update", json!({"defaultAgent": "build"}));
        assert_eq!(now["default_agent"], "build", "{now}");
        let now = self.change("tool_configure", json!({"tools": {"websearch": false}, "agent": "plan"}));
        assert_eq!(now["agent"]["plan"]["tools"]["websearch"], false, "{now}");
        let word = if self.scope == "global" { "deny" } else { "ask" };
        let now = self.change("permission_set", json!({"tool": "webfetch", "permission": word}));
        assert_eq!(now["permission"]["webfetch"], word, "{now}");
        let key = format!("sk-{}-of-a-test", self.scope);
        self.done("auth_set", json!({"provider": "fake", "type": "api", "key": key}));
        let kept = self.scene.opencode.home.path().join(".local/share/opencode/auth.json");
        assert!(fs::read_to_string(kept).unwrap().contains(&key), "it is not kept");
    }

    fn skills(&self) {
        let (name, global) = (format!("{}-jokes", self.scope), self.scope == "global");
        let skill = json!({"name": name, "description": "Jokes", "content": "Be funny.", "global": global});
        let out = self.done("skill_create", skill);
        let text = fs::read_to_string(out["location"].as_str().unwrap()).unwrap();
        assert!(text.contains("Be funny."), "{text}");
        let own = self.scene.own("/skill");
        let own = own.as_array().unwrap().iter().find(|skill| skill["name"] == name.as_str()).cloned();
        assert_eq!(own.unwrap()["location"], out["location"]);
        let out = self.done("skill_list", json!({}));
        assert!(out["items"].as_array().unwrap().iter().any(|skill| skill["name"] == name.as_str()), "{out}");
        let out = self.done("skill_load", json!({"name": name}));
        assert!(out["content"].as_str().unwrap().contains("Be funny."), "{out}");
    }

    /// The server is Toolgate itself.
    fn servers(&self) {
        let scene = self.scene;
        let name = format!("gate-{}", self.scope);
        let state = || scene.own("/mcp")[&name]["status"].clone();
        let command = [TOOLGATE, "serve", "--fixtures"];
        let now = self.change("mcp_add", json!({"name": name, "type": "local", "command": command}));
        assert_eq!((&now["mcp"][&name]["command"], state()), (&json!(command), json!("connected")), "{now}");
        let listed = self.done("mcp_list", json!({}));
        let listed = listed["items"].as_array().unwrap().iter().find(|item| item["name"] == name.as_str());
        assert_eq!(listed.unwrap()["status"], "connected");
        let now = self.change("mcp_enable", json!({"name": name, "enabled": false}));
        assert_eq!((&now["mcp"][&name]["enabled"], state()), (&json!(false), json!("disabled")), "{now}");
        let now = self.change("mcp_remove", json!({"name": name}));
        assert_eq!((&now["mcp"][&name], state()), (&Value::Null, Value::Null), "{now}");
        // One that was added for the moment only goes as well.
        scene.tell("/mcp", &json!({"name": name, "config": {"type": "local", "command": ["/bin/false"]}}));
        assert_eq!(state(), "failed");
        self.done("mcp_remove", json!({"name": name}));
        assert_eq!(state(), Value::Null);
    }
}

#[track_caller]
fn check(scene: &Scene, way: Way, scope: &'static str) {
    let work = Work { scene, way: RefCell::new(way), scope, used: RefCell::default() };
    work.sessions();
    work.files();
    work.lists();
    work.settings();
    work.skills();
    work.servers();
    let listed: BTreeSet<String> = work.way.borrow_mut().tools().into_iter().collect();
    assert_eq!((work.used.into_inner(), listed.len()), (listed, 29));
}

#[test]
fn every_tool_acts_on_opencode_over_stdio() {
    let scene = Scene::new("stdio");
    check(&scene, Way::Stdio(Stdio::start_in(scene.place(), &[])), "global");
}

#[test]
fn every_tool_acts_on_opencode_over_http() {
    let scene = Scene::new("http");
    check(&scene, Way::Http(Server::start_in(scene.place(), &[])), "project");
}

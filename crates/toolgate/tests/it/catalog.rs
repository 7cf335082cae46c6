//! A large catalog, and long answers, as clients of both eras meet them at the binary.

use serde_json::{Value, json};

use crate::message::{modern, post_modern, request, text};
use crate::process::{Place, Server, Stdio, replace, run, until};
use crate::web::Reply;

const THREE: [&str; 3] = ["tools_search", "tools_describe", "tools_call"];

/// A server with a workspace of one long file.
fn server(toml: &str) -> Server {
    let place = Place::configured(&format!("packs = [\"workspace\"]\n[workspace]\nroot = \"work\"\n{toml}"));
    let work = place.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("long.txt"), "0123456789".repeat(1_000)).unwrap();
    Server::start_in(place, &["--fixtures"])
}

/// The message of an answer, be it alone or the last of a stream.
fn message(reply: &Reply) -> Value {
    if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
        let last = reply
            .text()
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .next_back()
            .unwrap()
            .to_owned();
        return serde_json::from_str(&last).unwrap();
    }
    reply.json()
}

/// Asks as a client of each era does: a bare one without a handshake, and a modern one.
fn asked(server: &Server, path: &str, method: &str, params: &Value) -> [Value; 2] {
    let legacy = server.post(request(1, method, params)).path(path).both().send();
    let modern = post_modern(server, method, 2, params.clone()).path(path).send();
    [message(&legacy), message(&modern)]
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn calling(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

#[test]
fn clients_of_both_eras_search_describe_and_call() {
    let server = server("[catalog]\nsearch = true\n");
    for listed in asked(&server, "/mcp", "tools/list", &json!({})) {
        assert_eq!(names(&listed), THREE);
        let about = listed["result"]["tools"][0]["description"].as_str().unwrap();
        assert!(about.ends_with(" There are tools of: fixtures, workspace."), "{about}");
    }
    for found in
        asked(&server, "/mcp", "tools/call", &calling("tools_search", json!({"query": "read a file"})))
    {
        let items = &found["result"]["structuredContent"]["items"];
        assert_eq!(items[0]["name"], "workspace_read", "{found}");
    }
    let read = json!({"names": ["workspace_read"]});
    for described in asked(&server, "/mcp", "tools/call", &calling("tools_describe", read)) {
        let definition = &described["result"]["structuredContent"]["items"][0];
        assert_eq!(definition["inputSchema"]["required"], json!(["path"]), "{described}");
    }
    let read = json!({"name": "workspace_read", "arguments": {"path": "long.txt", "length": 3}});
    for answer in asked(&server, "/mcp", "tools/call", &calling("tools_call", read)) {
        assert_eq!(text(&answer), "012", "{answer}");
    }
    let unknown = json!({"name": "workspace_raed", "arguments": {}});
    for answer in asked(&server, "/mcp", "tools/call", &calling("tools_call", unknown)) {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).contains("did you mean `workspace_read`"), "{answer}");
    }
}

#[test]
fn a_question_of_a_tool_that_was_searched_for_is_answered_by_asking_again() {
    let server = server("[catalog]\nsearch = true\n");
    let tool =
        calling("tools_call", json!({"name": "test_input_required_result_elicitation", "arguments": {}}));
    let first = message(&post_modern(&server, "tools/call", 1, tool.clone()).send());
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let (key, _) = first["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut retry = tool;
    retry["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    retry["requestState"] = first["result"]["requestState"].clone();
    let done = message(&post_modern(&server, "tools/call", 2, retry).send());
    assert_eq!(text(&done), "Hello, Ada!", "{done}");
}

#[test]
fn a_profile_searches_while_others_list_and_a_rule_holds_for_both() {
    let server = server(
        "[profiles.lean]\nsearch = true\n[[policy.rules]]\nname = \"frozen\"\nthen = \"deny\"\n\
         targets = [\"workspace_write\"]\nwhen = \"args.path == 'long.txt'\"\n",
    );
    for listed in asked(&server, "/p/lean/mcp", "tools/list", &json!({})) {
        assert_eq!(names(&listed), THREE);
    }
    for listed in asked(&server, "/mcp", "tools/list", &json!({})) {
        assert!(names(&listed).contains(&"workspace_read"));
    }
    let write = json!({"path": "long.txt", "content": "x"});
    let wrapped = calling("tools_call", json!({"name": "workspace_write", "arguments": write}));
    let direct = calling("workspace_write", write);
    for (path, params) in [("/p/lean/mcp", &wrapped), ("/p/lean/mcp", &direct), ("/mcp", &direct)] {
        for answer in asked(&server, path, "tools/call", params) {
            assert!(text(&answer).contains("the rule `frozen` denies it"), "{path} {answer}");
        }
    }
    assert_eq!(server.calls("tool", "denied"), 6);
}

#[test]
fn a_client_on_standard_input_searches_too_in_either_era() {
    let place = Place::configured("[catalog]\nsearch = true\n");
    let file = place.path().join("toolgate.toml");
    let mut stdio = Stdio::start_with(&["--config", file.to_str().unwrap()]);
    for params in [json!({}), modern(json!({}))] {
        assert_eq!(names(&stdio.ask(request(1, "tools/list", &params))), THREE);
    }
    let tool = calling("tools_call", json!({"name": "test_simple_text"}));
    for params in [tool.clone(), modern(tool)] {
        let answer = stdio.ask(request(2, "tools/call", &params));
        assert!(text(&answer).contains("simple text"), "{answer}");
    }
}

#[test]
fn a_long_answer_is_cut_and_read_whole_by_clients_of_both_eras() {
    let server = server("[output]\nlimit = 500\n[catalog]\nsearch = true\n");
    let read = json!({"name": "workspace_read", "arguments": {"path": "long.txt"}});
    for answer in asked(&server, "/mcp", "tools/call", &calling("tools_call", read)) {
        assert!(text(&answer).contains("[cut: 9500 of 10000 bytes are missing; "), "{answer}");
        let link = &answer["result"]["content"][1];
        assert_eq!(link["type"], "resource_link", "{answer}");
        for whole in asked(&server, "/mcp", "resources/read", &json!({"uri": link["uri"]})) {
            let kept = whole["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{whole}"));
            assert_eq!(kept, "0123456789".repeat(1_000));
        }
    }
    let made_up = json!({"uri": "toolgate://results/00000000000000000000000000000000"});
    let [legacy, modern] = asked(&server, "/mcp", "resources/read", &made_up);
    assert_eq!((&legacy["error"]["code"], &modern["error"]["code"]), (&json!(-32002), &json!(-32602)));
}

#[test]
fn searching_is_switched_on_while_the_server_runs() {
    let place = Place::configured("[limits]\nenabled = false\n");
    let file = place.path().join("toolgate.toml");
    let server = Server::start_in(place, &[]);
    let count = || asked(&server, "/mcp", "tools/list", &json!({})).each_ref().map(|list| names(list).len());
    assert_eq!(count(), [73, 73]);
    replace(&file, "[catalog]\nsearch_above = 4\n[limits]\nenabled = false\n");
    until("the three are listed", || count() == [3, 3]);
    replace(&file, "[catalog]\nsearch_above = 73\n[limits]\nenabled = false\n");
    until("all are listed", || count() == [73, 73]);
}

#[test]
fn what_the_list_costs_and_what_searching_saves_is_told() {
    let listed = |toml: &str| run(Place::configured(toml).toolgate(&["tools", "list"]), b"");
    let json = |toml: &str| {
        let ended = run(Place::configured(toml).toolgate(&["tools", "list", "--json"]), b"");
        serde_json::from_str::<Value>(&ended.stdout).unwrap()
    };
    let (plain, search) = ("", "[catalog]\nsearch = true\n");
    let all = json(plain)["tokens"]["all"].as_u64().unwrap();
    let three = json(search)["tokens"]["listed"].as_u64().unwrap();
    assert_eq!(json(plain)["tokens"]["listed"], all);
    assert_eq!((&json(plain)["search"], &json(search)["search"]), (&json!(false), &json!(true)));
    assert_eq!(
        listed(plain).stderr,
        format!("note: these 73 tools cost about {all} tokens in every conversation\n")
    );
    let saving = format!(
        "note: clients search for these 73 tools: about {three} tokens in every conversation instead of {all}\n"
    );
    assert_eq!(listed(search).stderr, saving);
    assert_eq!(listed(search).stdout, listed(plain).stdout);
}
